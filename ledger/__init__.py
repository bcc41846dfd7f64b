"""The ledger: accounts, transactions, categorizations, rules, imports, bank statements, subscriptions."""
