"""Pure calculations of the plan: read a plan from a table."""
