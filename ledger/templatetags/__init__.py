"""Template tags and filters of the ledger."""
