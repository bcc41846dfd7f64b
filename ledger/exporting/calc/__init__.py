"""Journals as text, without a database."""
