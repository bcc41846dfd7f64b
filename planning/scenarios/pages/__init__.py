"""Pages of scenarios."""
