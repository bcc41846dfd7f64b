"""Amounts as they are written, and rates of exchange."""
