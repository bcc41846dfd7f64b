"""The endpoints of the ledger."""
