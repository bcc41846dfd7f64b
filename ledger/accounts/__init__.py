"""Accounts, account groups and their balances."""
