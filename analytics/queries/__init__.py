"""Queries of the data endpoints, one module each, and what they share. SQL sums, Python decides."""
