"""Pages of accounts and account groups."""
