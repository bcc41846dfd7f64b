"""Categorization of transactions: categories, counterparties, splits."""
