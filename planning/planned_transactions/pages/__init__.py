"""Pages of planned transactions."""
