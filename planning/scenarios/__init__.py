"""Scenarios: named lists of changes to what is planned, compared and adopted."""
