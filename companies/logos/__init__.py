"""A company's logo: its own, and the one that its web site shows."""
