"""Pure calculations of accounts: the settings of their files."""
