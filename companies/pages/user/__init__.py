"""Pages of a user: sign-in, profile, security, MFA, invitations."""
