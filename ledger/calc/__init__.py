"""Pure calculations that several ledger packages share: no database, no clock."""
