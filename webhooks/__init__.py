"""Webhooks: endpoints, signed deliveries, retries."""
