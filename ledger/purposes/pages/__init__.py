"""Pages of categories, counterparties and categorization."""
