"""Actions on bank statements: import, undo, opening balances, pending transactions, reconciliation."""
