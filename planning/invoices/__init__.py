"""Receivables and payables: open invoices, and their aging."""
