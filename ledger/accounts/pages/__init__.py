"""The web pages of accounts and their groups."""
