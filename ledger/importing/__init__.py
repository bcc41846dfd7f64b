"""Movements that come in bulk: bodies, files, undoing."""
