"""Multi-factor authentication (MFA): passkeys, authenticator apps and recovery codes."""
