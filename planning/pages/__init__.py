"""The web pages of what is planned."""
