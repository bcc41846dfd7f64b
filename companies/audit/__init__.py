"""The audit log: its labels, pages and partitions."""
