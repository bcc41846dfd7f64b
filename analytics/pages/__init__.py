"""The reports as pages and files: what the address asks, and what is shown of the figures."""
