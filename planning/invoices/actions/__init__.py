"""Writes of receivables and payables."""
