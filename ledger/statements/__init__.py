"""Bank statements: parsed by content, stored as transactions, reconciled with the ledger."""
