"""Categorization rules, and proposals from the company's history."""
