"""Serializers of products, subscriptions and their events."""
