"""Actions on products, subscriptions and their events."""
