"""Queries of bank statements: files and their accounts."""
