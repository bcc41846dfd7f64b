"""Bank statements: parse files, match their entries with transactions, reconcile balances."""
