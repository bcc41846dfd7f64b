"""Queries of occurrences, matches and settled totals."""
