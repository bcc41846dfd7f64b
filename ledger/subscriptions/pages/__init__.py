"""Pages of products, customers and subscriptions; revenue is shown by the reports."""
