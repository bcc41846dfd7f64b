"""Pages of receivables and payables."""
