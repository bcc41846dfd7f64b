"""Who calls: credentials, sessions, and what they open."""
