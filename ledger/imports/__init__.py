"""Imports of transactions from CSV files, workbooks and JSON."""
