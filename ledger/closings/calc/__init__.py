"""Calculations of period close."""
