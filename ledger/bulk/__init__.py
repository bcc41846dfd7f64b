"""Many rows at once: reading their bodies, storing them by COPY."""
