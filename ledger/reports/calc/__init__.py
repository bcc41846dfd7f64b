"""Calculations of monthly reports."""
