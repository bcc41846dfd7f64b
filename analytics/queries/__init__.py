"""What each data query answers: SQL sums, Python decides. One module a query, and what several of them share."""
