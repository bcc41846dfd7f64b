"""Serializers of products, subscriptions and imported events."""
