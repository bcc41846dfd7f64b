"""Actions on categories, counterparties and categorizations, one transaction or many."""
