"""Notifications: messages, emails, the list on screen."""
