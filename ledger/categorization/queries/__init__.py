"""Queries of categorization: where categories and counterparties are used."""
