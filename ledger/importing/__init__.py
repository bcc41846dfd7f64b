"""Imports of transactions: request bodies, CSV files, and undoing an import."""
