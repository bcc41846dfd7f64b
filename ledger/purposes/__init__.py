"""Categorization of transactions: categories, counterparties, splitting and bulk categorization."""
