"""Tokens as texts: signed access tokens (RFC 9068) and ID tokens, opaque codes and refresh tokens."""

import base64
import hashlib
import re
import secrets
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Any
from uuid import uuid4

from django.conf import settings
from joserfc import jwt
from joserfc.errors import JoseError

from oauth import keys

ACCESS_LIVES = timedelta(seconds=3600)  # service.md, part 5.3
ACCESS_TYPE = "at+jwt"
HEADER = {"typ", "alg", "kid"}  # what we write, and all that we read: no extension is understood
MOST_LETTERS = 4096  # of a token; ours have fewer than a thousand
UUID_TEXT = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")  # as we write them
REFRESH_PREFIX = "svcrt_"  # so that a scanner recognises one that leaked


@dataclass(frozen=True, slots=True)
class Claims:
    """What a verified access token says."""

    grant_id: str
    company_id: str
    client_id: str
    user_id: str
    scopes: tuple[str, ...]


def digest(text: str) -> str:
    """What is stored of a code or a refresh token; they hold 256 random bits and need no slow hash."""
    return hashlib.sha256(text.encode()).hexdigest()


def new_code() -> str:
    return secrets.token_urlsafe(32)


def new_refresh_token() -> str:
    return REFRESH_PREFIX + secrets.token_urlsafe(32)


def signed(claims: dict[str, Any], *, kind: str) -> str:
    key = keys.signing_key()
    return jwt.encode({"typ": kind, "alg": keys.ALGORITHM, "kid": key.kid}, claims, key, [keys.ALGORITHM])


def access_token(
    *, grant_id: Any, company_id: Any, user_id: Any, client_id: str, scopes: list[str], now: datetime
) -> str:
    """A signed token for one company; it carries neither permissions nor personal data."""
    issued = int(now.timestamp())
    claims = {
        "iss": settings.AUTH_URL,
        "aud": settings.BASE_URL,
        "sub": str(user_id),
        "client_id": client_id,
        "scope": " ".join(scopes),
        "jti": uuid4().hex,
        "iat": issued,
        "exp": issued + int(ACCESS_LIVES.total_seconds()),
        "company_id": str(company_id),
        "grant_id": str(grant_id),
    }
    return signed(claims, kind=ACCESS_TYPE)


def id_token(*, user_id: Any, client_id: str, nonce: str, auth_time: datetime, access: str, now: datetime) -> str:
    """Who signed in, for the app alone; the API never accepts one."""
    issued = int(now.timestamp())
    claims: dict[str, Any] = {
        "iss": settings.AUTH_URL,
        "aud": client_id,
        "sub": str(user_id),
        "iat": issued,
        "exp": issued + int(ACCESS_LIVES.total_seconds()),
        "auth_time": int(auth_time.timestamp()),
        "at_hash": half_hash(access),
    }
    if nonce:
        claims["nonce"] = nonce
    return signed(claims, kind="JWT")


def half_hash(text: str) -> str:
    """OpenID Connect's at_hash: the left half of the SHA-256."""
    return base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()[:16]).rstrip(b"=").decode()


def verified(text: str, *, kind: str) -> dict[str, Any] | None:
    """The claims of a token that one of our keys signed, of the kind asked for; no times, no audience are checked."""
    if len(text) > MOST_LETTERS:
        return None
    return _verified(text, kind, tuple(settings.OAUTH_SIGNING_KEYS), settings.AUTH_URL)


@lru_cache(maxsize=4096)
def _verified(text: str, kind: str, paths: tuple[str, ...], issuer: str) -> dict[str, Any] | None:
    """Remembered, for an app sends one token for an hour: what was signed once stays signed, by the same keys."""
    try:
        token = jwt.decode(text, keys.key_set(), algorithms=[keys.ALGORITHM])
    except (JoseError, ValueError, TypeError, KeyError, AttributeError):
        return None
    if set(token.header) != HEADER or token.header["typ"] != kind or token.claims.get("iss") != issuer:
        return None
    return token.claims


def read_access_token(text: str, *, now: datetime, even_expired: bool = False) -> Claims | None:
    """What a live access token of ours says, or None. No leeway: both clocks are this machine's."""
    claims = verified(text, kind=ACCESS_TYPE)
    if claims is None or claims.get("aud") != settings.BASE_URL:
        return None
    expires = claims.get("exp")
    if not isinstance(expires, int) or (expires <= now.timestamp() and not even_expired):
        return None
    return told(claims)


def told(claims: dict[str, Any]) -> Claims | None:
    """Our claims, or None where one is missing or not of its type: what a key of ours signed was not always written
    here, and the database refuses what is no UUID."""
    ids = [claims.get(name) for name in ("grant_id", "company_id", "sub")]
    texts = [claims.get(name) for name in ("client_id", "scope")]
    if not all(isinstance(each, str) and UUID_TEXT.fullmatch(each) for each in ids):
        return None
    if not all(isinstance(each, str) and each.isprintable() for each in texts):
        return None
    return Claims(
        grant_id=claims["grant_id"],
        company_id=claims["company_id"],
        client_id=claims["client_id"],
        user_id=claims["sub"],
        scopes=tuple(claims["scope"].split()),
    )
