"""Tokens of report links."""

import hashlib


def hash_token(token: str) -> str:
    """Return the stored digest of a token, which has 256 random bits.

    >>> hash_token("a")[:8]
    'ca978112'
    """
    return hashlib.sha256(token.encode(errors="replace")).hexdigest()
