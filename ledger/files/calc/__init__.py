"""Electronic invoices: what they say, and whether their totals add up."""
