"""Matching texts and counting earlier categorizations; no database."""
