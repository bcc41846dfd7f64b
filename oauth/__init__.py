"""OAuth 2.1 and OpenID Connect: apps, consents, tokens."""
