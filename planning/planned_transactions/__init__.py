"""Planned transactions: recurrence, occurrences, overrides, settlements."""
