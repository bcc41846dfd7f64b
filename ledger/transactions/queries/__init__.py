"""Queries of transactions: selections, totals, transfer candidates."""
