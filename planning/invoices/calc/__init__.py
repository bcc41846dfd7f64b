"""Pure calculations of invoices: read tables of open invoices."""
