"""Transactions: API, pages, filters, transfers, bulk operations."""
