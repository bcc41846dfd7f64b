"""Account security of a user: sessions, security log, notifications."""
