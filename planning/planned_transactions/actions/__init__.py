"""Actions on planned transactions and overrides of single occurrences."""
