"""Products, subscriptions and their events."""
