"""Tokens as texts: signed access tokens (RFC 9068), opaque codes and refresh tokens; ID tokens the toolkit makes."""

import base64
import hashlib
import json
import re
import secrets
from datetime import datetime
from functools import lru_cache
from typing import Annotated, Any
from uuid import UUID, uuid4

import msgspec
from django.conf import settings
from django.utils.crypto import salted_hmac
from jwcrypto.common import JWException
from jwcrypto.jwk import JWK
from jwcrypto.jws import JWS
from jwcrypto.jwt import JWT
from oauth2_provider.settings import oauth2_settings
from oauth2_provider.utils import jwk_from_pem
from oauthlib.common import Request

ACCESS_TYPE, ALGORITHM = "at+jwt", "RS256"
HEADER = {"typ", "alg", "kid"}  # what we write, and all that we read: no extension is understood
COMPACT = re.compile(r"[\w-]+\.[\w-]+\.[\w-]+", re.ASCII)  # JSON forms are none of ours
MOST_LETTERS = 4096  # of a token; ours have fewer than a thousand
REFRESH_PREFIX = "svcrt_"  # so that a scanner recognises one that leaked


Text = Annotated[str, msgspec.Meta(pattern=r"\A[ -~]*\Z")]  # the database refuses a NUL


class Claims(msgspec.Struct, frozen=True):
    """What a verified access token says: what a key of ours signed was not always written here."""

    grant_id: UUID
    company_id: UUID
    client_id: Text
    sub: UUID
    scope: Text
    aud: str
    exp: int


def digest(text: str) -> str:
    """What is stored of a code or a refresh token; they hold 256 random bits and need no slow hash."""
    return hashlib.sha256(text.encode()).hexdigest()


def new_code() -> str:
    return secrets.token_urlsafe(32)


def refresh_token(request: Request) -> str:
    """The toolkit's REFRESH_TOKEN_GENERATOR: random for a new consent, else derived from the one it replaces."""
    if request.refresh_token:
        return derive_successor(request.refresh_token)
    return REFRESH_PREFIX + secrets.token_urlsafe(32)


def derive_successor(replaced: str) -> str:
    """Return the refresh token that replaces one: 256 bits that nobody can compute without our secret key.

    It can be computed again while a lost answer is repeated, and is stored nowhere.
    """
    value = salted_hmac("oauth.refresh_token", replaced, algorithm="sha256").digest()
    return REFRESH_PREFIX + base64.urlsafe_b64encode(value).rstrip(b"=").decode()


def pems() -> tuple[str, ...]:
    """The toolkit's keys, which sign ID tokens too: the one that signs, then those that no longer do."""
    return (oauth2_settings.OIDC_RSA_PRIVATE_KEY, *oauth2_settings.OIDC_RSA_PRIVATE_KEYS_INACTIVE)


@lru_cache(maxsize=4)
def keys(of: tuple[str, ...]) -> dict[str, JWK]:
    """By their ids, as they are published: RFC 7638 thumbprints."""
    return {key.thumbprint(): key for key in map(jwk_from_pem, of)}


def access_token(request: Request) -> str:
    """The toolkit's ACCESS_TOKEN_GENERATOR: signed, for one company; no permissions, no personal data."""
    consent, issued = request.consent, int(request.now.timestamp())
    kid, key = next(iter(keys(pems()).items()))
    claims = {
        "iss": settings.AUTH_URL,
        "aud": settings.BASE_URL,
        "sub": str(consent.user_id),
        "client_id": request.client.client_id,
        "scope": " ".join(request.scopes),
        "jti": uuid4().hex,
        "iat": issued,
        "exp": issued + request.expires_in,
        "company_id": str(consent.company_id),
        "grant_id": str(consent.id),
    }
    token = JWT(header={"typ": ACCESS_TYPE, "alg": ALGORITHM, "kid": kid}, claims=claims)
    token.make_signed_token(key)
    return str(token.serialize())


def verified(text: str, *, kind: str) -> dict[str, Any] | None:
    """The claims of a token that one of our keys signed, of the kind asked for; no times, no audience are checked."""
    if len(text) > MOST_LETTERS:
        return None
    return _verified(text, kind, pems(), settings.AUTH_URL)


@lru_cache(maxsize=4096)
def _verified(text: str, kind: str, of: tuple[str, ...], issuer: str) -> dict[str, Any] | None:
    """Remembered, for an app sends one token for an hour: what was signed once stays signed, by the same keys."""
    if not COMPACT.fullmatch(text):
        return None
    token = JWS()
    token.allowed_algs = [ALGORITHM]
    try:
        token.deserialize(text)
        header = token.jose_header
        if set(header) != HEADER or header["typ"] != kind:
            return None
        token.verify(keys(of)[header["kid"]])
        claims = json.loads(token.payload)
    except (JWException, ValueError, TypeError, LookupError, AttributeError, RecursionError):
        return None
    return claims if isinstance(claims, dict) and claims.get("iss") == issuer else None


def read_access_token(text: str, *, now: datetime, even_expired: bool = False) -> Claims | None:
    """What a live access token of ours says, or None. No leeway: both clocks are this machine's."""
    try:
        claims = msgspec.convert(verified(text, kind=ACCESS_TYPE), Claims)
    except msgspec.ValidationError:
        return None
    if claims.aud != settings.BASE_URL or (claims.exp <= now.timestamp() and not even_expired):
        return None
    return claims
