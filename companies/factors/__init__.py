"""What people prove besides a password: passkeys, authenticator apps, recovery codes."""
