"""The plan: amounts by category and month."""
