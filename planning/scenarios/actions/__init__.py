"""Create, change, adopt and undo scenarios."""
