"""The inbox: transactions to review, with suggested categories."""
