"""Pages of a user: sign-in, profile, security, invitations, home."""
