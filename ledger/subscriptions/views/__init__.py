"""API views of products, subscriptions and their events."""
