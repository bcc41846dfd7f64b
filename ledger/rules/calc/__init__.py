"""Matching texts and counting habits; no database."""
