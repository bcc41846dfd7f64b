"""Pages of products, customers, subscriptions and their events; revenue is shown by the reports."""
