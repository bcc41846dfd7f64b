"""Files attached to transactions: invoices, receipts, statements."""
