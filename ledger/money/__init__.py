"""Amounts, currencies and exchange rates."""
