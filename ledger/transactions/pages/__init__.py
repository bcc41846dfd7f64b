"""The web pages of transactions."""
