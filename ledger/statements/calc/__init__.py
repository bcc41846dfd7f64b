"""Calculations of bank statements; no database."""
