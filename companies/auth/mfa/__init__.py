"""Multi-factor authentication: devices, passkeys, and the state of a sign-in."""
