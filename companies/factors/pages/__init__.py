"""Pages for setting up and verifying MFA."""
