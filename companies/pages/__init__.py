"""Shared by all pages: page context, forms, amount formats, double-submit protection."""
