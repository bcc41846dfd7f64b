"""Receivables and payables made from the electronic invoices in files."""
