"""Authentication: credentials, sessions, passwords, throttling, step-up authentication."""
