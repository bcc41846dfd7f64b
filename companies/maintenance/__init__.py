"""Maintenance jobs: batches by company, and checks."""
