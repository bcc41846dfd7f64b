"""API views of accounts and account groups."""
