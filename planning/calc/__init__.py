"""Pure calculations of planning: recurrence, plan items, matching and planned totals."""
