"""Maintenance jobs."""
