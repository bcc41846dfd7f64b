"""Serializers of categories, counterparties and categorizations."""
