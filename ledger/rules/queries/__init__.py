"""Queries of rules: matches, suggestions and proposals."""
