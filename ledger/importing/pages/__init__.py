"""The web pages of imports."""
