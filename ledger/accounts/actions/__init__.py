"""Actions on accounts, account groups and initial balances."""
