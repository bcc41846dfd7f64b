"""API views of products and subscriptions."""
