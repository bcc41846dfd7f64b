"""Bulk requests: parse large request bodies, and store and read many rows with COPY."""
