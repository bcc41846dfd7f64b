"""The ledger's web pages."""
