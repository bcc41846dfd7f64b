"""Queries of the plan."""
