"""Who subscribes to what, for how much."""
