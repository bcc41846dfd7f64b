"""Who calls: API keys and sessions. An invalid Authorization header never falls back to the session.

Access tokens of apps are handled by ``oauth.authentication``, between the two. An API key is ``svc_`` + UUID (36
characters) + secret (36 characters): 30 random base62 digits and a CRC-32 of everything before it in 6 digits. Typos
and keys found in repositories are recognized without a lookup.
"""

import hashlib
import hmac
import json
import re
import uuid
import zlib
from collections.abc import Mapping, Sequence
from contextlib import suppress
from copy import copy
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Any

from django.conf import settings
from django.db import connection
from django.http import QueryDict
from django.utils import timezone
from rest_framework.authentication import BaseAuthentication
from rest_framework.authentication import SessionAuthentication as DjangoSession
from rest_framework.exceptions import AuthenticationFailed

from companies.auth.access import Access, build_access
from companies.errors import InvalidInputError
from companies.models import ApiKey, Company, DirectoryEntry, Membership, User, parse_id
from companies.permissions import Permissions, parse_permissions

SECOND_BEARER_PATTERN = re.compile(r",\s*bearer\s", re.IGNORECASE)  # how the server joins repeated headers
FORM_CONTENT_TYPE, MAX_PARSED_FORM_BYTES = "application/x-www-form-urlencoded", 64 * 1024
CHALLENGE_SCOPES = "svc:read svc:write offline_access"

API_KEY_PREFIX = "svc_"
BASE62_DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
RANDOM_DIGIT_COUNT, CHECK_DIGIT_COUNT = 30, 6  # 178 bits; 62**6 > 2**32
API_KEY_PATTERN = re.compile(r"svc_([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})([0-9A-Za-z]{36})", re.ASCII)
LAST_USED_INTERVAL = timedelta(minutes=1)  # lastUsedTime is written at most this often

COMPANY_FIELDS = [field.attname for field in Company._meta.concrete_fields]
COMPANY_COLUMNS = ", ".join(f'c."{field.column}"' for field in Company._meta.concrete_fields)
_PERMISSIONS_CACHE: dict[tuple[str, ...], Permissions] = {}


def build_challenge_header(error: str | None = None, *, scope: str | None = CHALLENGE_SCOPES, path: str = "") -> str:
    """Build the WWW-Authenticate header (RFC 6750, with the resource metadata of RFC 9728).

    `scope` is left out where no scope would help. `path` is that of a resource with its own metadata, such
    as ``/mcp``.
    """
    metadata = f"{settings.BASE_URL}/.well-known/oauth-protected-resource{path}"
    value = f'Bearer realm="api", resource_metadata="{metadata}"'
    if scope:
        value += f', scope="{scope}"'
    return f'{value}, error="{error}"' if error else value


class InvalidRequest(InvalidInputError):
    """Send the token once, in the Authorization header only."""

    code = "invalid_request"

    @property
    def headers(self) -> dict[str, str]:
        return {"WWW-Authenticate": build_challenge_header("invalid_request")}


def refuse_second_token(request: Any, header: str) -> None:
    """Raise InvalidRequest if the request carries a second token, in any way RFC 6750 allows."""
    django_request = getattr(request, "_request", request)  # DRF's request would parse the body by its media type
    if SECOND_BEARER_PATTERN.search(header) or "access_token" in django_request.GET:
        raise InvalidRequest
    is_small = (
        int(django_request.META.get("CONTENT_LENGTH") or 0) <= MAX_PARSED_FORM_BYTES
    )  # larger forms are read nowhere
    if (
        django_request.content_type == FORM_CONTENT_TYPE
        and is_small
        and "access_token" in QueryDict(django_request.body)
    ):  # request.POST: only of POST
        raise InvalidRequest


def parse_bearer_token(request: Any) -> str | None:
    """Return the token of the Authorization header; None without a header.

    Raises:
        AuthenticationFailed: another scheme, or an empty token.
        InvalidRequest: a second token was sent.
    """
    header = request.META.get("HTTP_AUTHORIZATION")
    if header is None:
        return None
    refuse_second_token(request, header)
    scheme, _, token = header.partition(" ")
    if scheme.lower() != "bearer" or not token.strip():
        raise AuthenticationFailed("The Authorization header must be: Bearer <API key or access token>.")
    return token.strip()


def get_addressed_company_id(request: Any) -> uuid.UUID | None:
    """Return the company id in the request's path, whether or not the caller can reach it; None if there is none."""
    match = request.resolver_match
    return parse_id(match.kwargs.get("company_id", "")) if match else None


def fetch_first_row(statement: str, values: Sequence[Any] | Mapping[str, Any]) -> tuple[Any, ...] | None:
    """Return the first row of a SQL query, or None. No ORM, because it runs before every request."""
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        return cursor.fetchone()


def build_company_from_row(columns: Sequence[Any]) -> Any:
    """Build a Company from raw columns in the order of ``COMPANY_FIELDS``."""
    company: Any = Company.from_db("default", COMPANY_FIELDS, columns)
    if isinstance(company.system_payment_provider, str):  # raw JSON is text
        company.system_payment_provider = json.loads(company.system_payment_provider)
    return company


def parse_permissions_cached(permissions: tuple[str, ...]) -> Permissions:
    """Return the parsed permissions of a stored list. Few different lists exist, so they are cached."""
    if permissions not in _PERMISSIONS_CACHE:
        if len(_PERMISSIONS_CACHE) > 1000:
            _PERMISSIONS_CACHE.clear()
        _PERMISSIONS_CACHE[permissions] = parse_permissions(permissions)
    return _PERMISSIONS_CACHE[permissions]


def compute_checksum(text: str) -> str:
    """Return the CRC-32 of the text as six base62 digits."""
    number, digits = zlib.crc32(text.encode()), ""
    for _ in range(CHECK_DIGIT_COUNT):
        number, digit = divmod(number, 62)
        digits = BASE62_DIGITS[digit] + digits
    return digits


def hash_api_key_secret(secret: str) -> bytes:
    """Return the stored digest of a secret: HMAC-SHA256 with the server's pepper. 178 random bits need no slow
    hash.
    """
    return hmac.digest(settings.API_KEY_PEPPER.encode(), secret.encode(), hashlib.sha256)


def parse_api_key(text: str) -> tuple[str, str] | None:
    """Return (id, secret) of a well-formed key with a correct checksum; None otherwise."""
    match = API_KEY_PATTERN.fullmatch(text)
    if not match or compute_checksum(text[:-CHECK_DIGIT_COUNT]) != text[-CHECK_DIGIT_COUNT:]:
        return None
    return match[1], match[2]


_LOOKUP_SQL = (
    f"SELECT k.digest, k.permissions, k.expires_time, k.revoked_time, k.last_used_time, {COMPANY_COLUMNS} "  # noqa: S608
    "FROM companies_apikey k JOIN companies_company c ON c.id = k.company_id WHERE k.id = %s AND k.company_id = %s"
)


@dataclass(frozen=True, slots=True)
class ApiKeyCredential:
    """The credential of an API key: one company, fixed permissions."""

    id: str
    company_access: Access
    needs_use_update: bool  # the last use was stored more than a minute ago
    kind: str = "apiKey"
    user_id: uuid.UUID | None = None
    is_authenticated: bool = True
    has_data_access: bool = True

    @property
    def key(self) -> str:
        return f"apiKey:{self.id}"

    @property
    def actor(self) -> str:
        return f"apiKey:{self.id}"

    def access(self, company_id: str) -> Access | None:
        return self.company_access if company_id.lower() == str(self.company_access.company.id) else None

    def accesses(self) -> list[Access]:
        return [self.company_access]

    def record_use(self, now: datetime) -> None:
        """Store `last_used_time`, at most once a minute."""
        if self.needs_use_update:
            key = ApiKey.objects.filter(company_id=self.company_access.company.id, id=self.id)
            key.exclude(last_used_time__gt=now - LAST_USED_INTERVAL).update(last_used_time=now)


@lru_cache(maxsize=10_000)
def get_key_company_id(key_id: str) -> uuid.UUID:
    """Return the company that owns a key, cached for the life of the process. A key never moves to another
    company.

    Says nothing about whether the key is valid. Raises LookupError, which is not cached, if there is no such
    key.
    """
    return DirectoryEntry.objects.list_company_ids(key_id)[0]


def authenticate_api_key(text: str, *, now: datetime, company_id: uuid.UUID | None = None) -> ApiKeyCredential | None:
    """Return the credential of an active key; None if it is unknown, wrong, expired or revoked.

    Runs one query: in the company of the request's path, otherwise in the key's own company. Raw SQL,
    because it runs before every API request.
    """
    parsed_key = parse_api_key(text)
    if parsed_key is None:
        return None
    key_id, secret = parsed_key
    row = fetch_first_row(_LOOKUP_SQL, [key_id, str(company_id)]) if company_id else None
    if row is None:
        with suppress(LookupError):
            row = fetch_first_row(_LOOKUP_SQL, [key_id, str(get_key_company_id(key_id))])
    stored_digest, permissions, expires_time, revoked_time, last_used_time = (
        row[:5] if row else (b"", [], None, None, None)
    )
    if not hmac.compare_digest(bytes(stored_digest), hash_api_key_secret(secret)) or row is None:
        return None
    if revoked_time is not None or (expires_time is not None and expires_time <= now):
        return None
    return ApiKeyCredential(
        id=key_id,
        company_access=Access(
            company=build_company_from_row(row[5:]),
            role="apiKey",
            permissions=parse_permissions_cached(tuple(permissions)),
            expires_time=expires_time,
        ),
        needs_use_update=last_used_time is None or last_used_time < now - LAST_USED_INTERVAL,
    )


class ApiKeyAuthentication(BaseAuthentication):
    def authenticate(self, request: Any) -> tuple[Any, Any] | None:
        token = parse_bearer_token(request)
        if token is None or not token.startswith(API_KEY_PREFIX):
            return None
        credential = authenticate_api_key(token, now=timezone.now(), company_id=get_addressed_company_id(request))
        if credential is None:
            raise AuthenticationFailed("The API key is invalid, expired or revoked.")
        return credential, token

    def authenticate_header(self, request: Any) -> str:
        return build_challenge_header("invalid_token" if "HTTP_AUTHORIZATION" in request.META else None)


@dataclass(frozen=True, slots=True)
class SessionCredential:
    """The credential of a signed-in user. Memberships are read when needed."""

    user: User
    kind: str = "session"
    is_authenticated: bool = True
    has_data_access: bool = True

    @property
    def key(self) -> str:
        return f"session:{self.user.id}"

    @property
    def actor(self) -> str:
        return str(self.user.id)

    @property
    def user_id(self) -> uuid.UUID:
        return self.user.id

    def access(self, company_id: str) -> Access | None:
        company_uuid = parse_id(company_id)
        if company_uuid is None:
            return None
        membership = (
            Membership.objects.for_company(company_uuid).select_related("company").filter(user=self.user).first()
        )
        return build_member_access(membership, self.user) if membership else None

    def accesses(self) -> list[Access]:
        memberships = Membership.objects.for_user(self.user.id).select_related("company")
        return [build_member_access(m, self.user) for m in memberships.order_by("company__name", "company_id")]

    def record_use(self, now: datetime) -> None:
        """Do nothing: the session itself stores when it was last used (companies.auth.sessions)."""


def build_member_access(membership: Membership, user: User) -> Access:
    """Build a member's access to the company of the membership."""
    return build_access(
        membership.company,
        role=membership.role,
        permissions=membership.effective_permissions,
        factor_since=user.second_factor_since,
    )


class SessionAuthentication(DjangoSession):
    """Django's session authentication with CSRF check, used only if no Authorization header was sent."""

    def authenticate(self, request: Any) -> tuple[Any, Any] | None:
        if parse_bearer_token(request) is not None:
            raise AuthenticationFailed("The token is not valid for this API.")
        user_and_auth = super().authenticate(request)
        return (SessionCredential(user=user_and_auth[0]), None) if user_and_auth else None

    def enforce_csrf(self, request: Any) -> None:
        """Accept the CSRF token from the header only. Looking for it in a form would read the request body."""
        request_without_body = copy(request.parser_context["view"].http_request)
        request_without_body.POST = QueryDict()
        super().enforce_csrf(request_without_body)
