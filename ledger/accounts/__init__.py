"""Where money lies, and how much."""
