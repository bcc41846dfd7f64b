"""What a company says of itself, to whom it gives what, and what was done in it."""
