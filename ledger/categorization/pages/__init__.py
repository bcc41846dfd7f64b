"""Pages of categories, counterparties and splits, and bulk actions."""
