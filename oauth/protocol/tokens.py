"""Token formats: signed access tokens (RFC 9068), opaque codes and refresh tokens. The toolkit makes ID
tokens.
"""

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

ACCESS_TOKEN_TYPE, ALGORITHM = "at+jwt", "RS256"
HEADER_NAMES = {"typ", "alg", "kid"}  # the only header names written and accepted: extensions are not supported
COMPACT_PATTERN = re.compile(r"[\w-]+\.[\w-]+\.[\w-]+", re.ASCII)  # JSON serializations are not accepted
MAX_TOKEN_LENGTH = 4096  # our tokens have fewer than a thousand characters
REFRESH_PREFIX = "svcrt_"  # lets secret scanners recognize leaked tokens


PrintableText = Annotated[str, msgspec.Meta(pattern=r"\A[ -~]*\Z")]  # PostgreSQL rejects NUL


class AccessTokenClaims(msgspec.Struct, frozen=True):
    """The claims of a verified access token; a value signed by our keys need not have been written here."""

    grant_id: UUID
    company_id: UUID
    client_id: PrintableText
    sub: UUID
    scope: PrintableText
    aud: str
    exp: int


def compute_token_digest(text: str) -> str:
    """Return what is stored of a code or refresh token; 256 random bits need no slow hash."""
    return hashlib.sha256(text.encode()).hexdigest()


def generate_code() -> str:
    return secrets.token_urlsafe(32)


def generate_refresh_token(request: Request) -> str:
    """Generate a refresh token for the toolkit: random for a new consent, else derived from the one it replaces."""
    if request.refresh_token:
        return derive_successor_token(request.refresh_token)
    return REFRESH_PREFIX + secrets.token_urlsafe(32)


def derive_successor_token(replaced: str) -> str:
    """Derive the refresh token that replaces one: 256 bits that need our secret key.

    It is stored nowhere, and computed again when a lost response is repeated.
    """
    value = salted_hmac("oauth.refresh_token", replaced, algorithm="sha256").digest()
    return REFRESH_PREFIX + base64.urlsafe_b64encode(value).rstrip(b"=").decode()


def list_key_pems() -> tuple[str, ...]:
    """Return the toolkit's RSA keys, which also sign ID tokens: the signing key first, then inactive ones."""
    return (oauth2_settings.OIDC_RSA_PRIVATE_KEY, *oauth2_settings.OIDC_RSA_PRIVATE_KEYS_INACTIVE)


@lru_cache(maxsize=4)
def load_keys(pems: tuple[str, ...]) -> dict[str, JWK]:
    """Return the keys by id, their RFC 7638 thumbprint. Cached."""
    return {key.thumbprint(): key for key in map(jwk_from_pem, pems)}


def generate_access_token(request: Request) -> str:
    """Generate an access token for the toolkit: signed, for one company, without permissions or personal data."""
    consent, issued_at = request.consent, int(request.now.timestamp())
    kid, key = next(iter(load_keys(list_key_pems()).items()))
    claims = {
        "iss": settings.AUTH_URL,
        "aud": settings.BASE_URL,
        "sub": str(consent.user_id),
        "client_id": request.client.client_id,
        "scope": " ".join(request.scopes),
        "jti": uuid4().hex,
        "iat": issued_at,
        "exp": issued_at + request.expires_in,
        "company_id": str(consent.company_id),
        "grant_id": str(consent.id),
    }
    token = JWT(header={"typ": ACCESS_TOKEN_TYPE, "alg": ALGORITHM, "kid": kid}, claims=claims)
    token.make_signed_token(key)
    return str(token.serialize())


def verify_token(text: str, *, kind: str) -> dict[str, Any] | None:
    """Return the claims of a token of a kind that one of our keys signed; expiry and audience are not checked."""
    if len(text) > MAX_TOKEN_LENGTH:
        return None
    return _verify_signature(text, kind, list_key_pems(), settings.AUTH_URL)


@lru_cache(maxsize=4096)
def _verify_signature(text: str, kind: str, pems: tuple[str, ...], issuer: str) -> dict[str, Any] | None:
    """Verify a token's signature. Cached, since an app sends one token for an hour."""
    if not COMPACT_PATTERN.fullmatch(text):
        return None
    token = JWS()
    token.allowed_algs = [ALGORITHM]
    try:
        token.deserialize(text)
        header = token.jose_header
        if set(header) != HEADER_NAMES or header["typ"] != kind:
            return None
        token.verify(load_keys(pems)[header["kid"]])
        claims = json.loads(token.payload)
    except (JWException, ValueError, TypeError, LookupError, AttributeError, RecursionError):
        return None
    return claims if isinstance(claims, dict) and claims.get("iss") == issuer else None


def read_access_token(text: str, *, now: datetime, even_expired: bool = False) -> AccessTokenClaims | None:
    """Return the claims of a valid access token, or None. No leeway: both clocks are this machine's."""
    try:
        claims = msgspec.convert(verify_token(text, kind=ACCESS_TOKEN_TYPE), AccessTokenClaims)
    except msgspec.ValidationError:
        return None
    if claims.aud != settings.BASE_URL or (claims.exp <= now.timestamp() and not even_expired):
        return None
    return claims
