"""Bank statements: read by content, stored as transactions, compared with what the ledger says."""
