"""Analytics: queries, charts and reports over the ledger and the plan; it owns no facts."""
