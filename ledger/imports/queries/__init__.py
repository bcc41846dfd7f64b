"""Queries of imports: stored transactions and categories to match rows with."""
