"""Queries of subscriptions: committed revenue."""
