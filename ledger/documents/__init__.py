"""Documents beside transactions."""
