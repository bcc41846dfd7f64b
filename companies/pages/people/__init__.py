"""Somebody alone: signing in, who they are, the companies that they belong to."""
