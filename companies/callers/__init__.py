"""Authentication: credentials, sessions, passwords, MFA, and the security log of a user."""
