"""Pure calculations of subscriptions: monthly value."""
