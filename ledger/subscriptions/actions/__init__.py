"""Actions on products, subscriptions and imported events."""
