"""Journals for plain-text accounting as text, without a database."""
