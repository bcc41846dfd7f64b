"""API views of categories, counterparties and categorizations."""
