"""The audit log: its labels and pages."""
