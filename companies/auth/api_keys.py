"""API keys: creating, rolling, revoking and authenticating them.

A key is ``svc_`` + UUID (36 characters) + secret (36 characters): 30 random base62 digits and a CRC-32
of everything before it in 6 digits. Typos and keys found in repositories are recognized without a
lookup.
"""

import hashlib
import hmac
import re
import secrets
import uuid
import zlib
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import lru_cache

from django.conf import settings
from django.utils.translation import gettext as _

from companies import hooks
from companies.auth import emails
from companies.auth.access import Access
from companies.auth.credentials import (
    COMPANY_COLUMNS,
    build_company_from_row,
    fetch_first_row,
    parse_permissions_cached,
)
from companies.change import CompanyChange, change_company
from companies.errors import InvalidInputError, PermissionDeniedError
from companies.models import ApiKey, AuditContext, Company, DirectoryEntry, generate_id
from companies.permissions import ADMIN_PERMISSIONS, Permissions, Role, parse_permissions, sort_permissions

API_KEY_PREFIX = "svc_"
BASE62_DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
RANDOM_DIGIT_COUNT, CHECK_DIGIT_COUNT = 30, 6  # 178 bits; 62**6 > 2**32
API_KEY_PATTERN = re.compile(r"svc_([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})([0-9A-Za-z]{36})", re.ASCII)
LAST_USED_INTERVAL = timedelta(minutes=1)  # lastUsedTime is written at most this often


class KeyExceedsCreator(PermissionDeniedError):
    """You can only grant permissions you have yourself."""

    code = "permission_denied"


class KeyNeedsOwner(PermissionDeniedError):
    """Only owners can create API keys with administrative permissions."""

    code = "permission_denied"


class KeyOutlivesCreator(PermissionDeniedError):
    """An API key cannot outlive the key that created it. Choose an earlier expiry."""

    code = "permission_denied"


class ExpiresInPast(InvalidInputError):
    """The expiry date must be in the future."""

    code = "expires_in_past"


@dataclass(frozen=True, slots=True)
class MintedApiKey:
    """A new key and its full text, which is shown only once."""

    key: ApiKey
    text: str


def compute_checksum(text: str) -> str:
    """Return the CRC-32 of the text as six base62 digits."""
    number, digits = zlib.crc32(text.encode()), ""
    for _position in range(CHECK_DIGIT_COUNT):
        number, digit = divmod(number, 62)
        digits = BASE62_DIGITS[digit] + digits
    return digits


def hash_api_key_secret(secret: str) -> bytes:
    """Return the stored digest of a secret: HMAC-SHA256 with the server's pepper. 178 random bits need no slow
    hash.
    """
    return hmac.digest(settings.API_KEY_PEPPER.encode(), secret.encode(), hashlib.sha256)


def generate_api_key_text(key_id: uuid.UUID) -> str:
    """Generate the full text of a new key."""
    head = f"{API_KEY_PREFIX}{key_id}" + "".join(secrets.choice(BASE62_DIGITS) for _ in range(RANDOM_DIGIT_COUNT))
    return head + compute_checksum(head)


def parse_api_key(text: str) -> tuple[str, str] | None:
    """Return (id, secret) of a well-formed key with a correct checksum; None otherwise."""
    match = API_KEY_PATTERN.fullmatch(text)
    if not match or compute_checksum(text[:-CHECK_DIGIT_COUNT]) != text[-CHECK_DIGIT_COUNT:]:
        return None
    return match[1], match[2]


def create_api_key(
    *,
    company: Company,
    context: AuditContext,
    name: str,
    permissions: Permissions,
    creator: Access | None,
    expires_time: datetime | None = None,
) -> MintedApiKey:
    """Create an API key and return it with its full text.

    `creator` is the access of the credential that creates it; None on the command line.

    Raises:
        KeyExceedsCreator, KeyNeedsOwner, KeyOutlivesCreator, ExpiresInPast
    """
    if creator is not None:
        if creator.expires_time and (expires_time is None or expires_time > creator.expires_time):
            raise KeyOutlivesCreator
        if missing_permissions := permissions - creator.permissions:
            message = _("You can only grant permissions you have yourself. Missing: {permissions}.").format(
                permissions=", ".join(sort_permissions(missing_permissions))
            )
            raise KeyExceedsCreator(message)
        if permissions & ADMIN_PERMISSIONS and creator.role != Role.OWNER:
            raise KeyNeedsOwner
    if expires_time is not None and expires_time <= context.time:
        raise ExpiresInPast(pointer="#/expiresTime")
    key_id = generate_id()
    text = generate_api_key_text(key_id)
    with change_company(company, context=context) as change:
        key = ApiKey(id=key_id, company=company, name=name, digest=hash_api_key_secret(text[-36:]), last_four=text[-4:])
        key.permissions, key.expires_time = sort_permissions(permissions), expires_time
        change.insert(key)
        after = {"name": name, "permissions": key.permissions, "expires_time": expires_time}
        change.record(key, "apiKey.created", after=after)
        hooks.api_key_created.run(key=key, context=context)
        emails.send_api_key_created_email(key=key, context=context)
    return MintedApiKey(key=key, text=text)


def roll_api_key(
    *, company: Company, context: AuditContext, key_id: uuid.UUID | str, creator: Access, overlap: timedelta
) -> MintedApiKey:
    """Create a key with the same name and permissions; the old key ends after `overlap`, or immediately if that
    is zero.

    Raises:
        NotFoundError, PreconditionFailed, KeyExceedsCreator, KeyNeedsOwner
    """
    with change_company(company, context=context) as change:
        key = change.lock(ApiKey.objects.active(context.time), key_id)
        minted_key = create_api_key(
            company=company,
            context=context,
            name=key.name,
            permissions=parse_permissions(key.permissions),
            creator=creator,
            expires_time=context.time + (key.expires_time - key.created_time) if key.expires_time else None,
        )
        old_expiry, new_expiry = key.expires_time, context.time + overlap
        if not overlap:
            mark_api_key_revoked(change, key)
        elif old_expiry is None or new_expiry < old_expiry:
            key.apply_changes(context, expires_time=new_expiry)
            changes = {"expires_time": new_expiry, "replaced_by": str(minted_key.key.id)}
            change.record(key, "apiKey.rolled", before={"expires_time": old_expiry}, after=changes)
    return minted_key


def revoke_api_key(*, company: Company, context: AuditContext, key_id: uuid.UUID | str) -> ApiKey:
    """Revoke a key: its next request is rejected. Revoking it again keeps the first time.

    Raises:
        NotFoundError, PreconditionFailed
    """
    with change_company(company, context=context) as change:
        key = change.lock(ApiKey, key_id)
        mark_api_key_revoked(change, key)
    return key


def mark_api_key_revoked(change: CompanyChange, key: ApiKey) -> None:
    """Mark a locked key as revoked and write the audit entry, unless it is revoked already."""
    if key.revoked_time is None:
        key.apply_changes(change.context, revoked_time=change.context.time)
        change.record(key, "apiKey.revoked", before={"name": key.name})


_LOOKUP_SQL = (
    f"SELECT k.digest, k.permissions, k.expires_time, k.revoked_time, k.last_used_time, {COMPANY_COLUMNS} "  # noqa: S608
    "FROM companies_apikey k JOIN companies_company c ON c.id = k.company_id WHERE k.id = %s AND k.company_id = %s"
)


@dataclass(frozen=True, slots=True)
class ApiKeyCredential:
    """The credential of an API key: one company, fixed permissions."""

    id: str
    granted: Access
    needs_use_update: bool  # the last use was stored more than a minute ago
    kind: str = "apiKey"
    user_id: uuid.UUID | None = None
    is_authenticated: bool = True
    reaches_data: bool = True

    @property
    def key(self) -> str:
        return f"apiKey:{self.id}"

    @property
    def actor(self) -> str:
        return f"apiKey:{self.id}"

    def access(self, company_id: str) -> Access | None:
        return self.granted if company_id.lower() == str(self.granted.company.id) else None

    def accesses(self) -> list[Access]:
        return [self.granted]

    def record_use(self, now: datetime) -> None:
        """Store `last_used_time`, at most once a minute."""
        if self.needs_use_update:
            key = ApiKey.objects.filter(company_id=self.granted.company.id, id=self.id)
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
        granted=Access(
            company=build_company_from_row(row[5:]),
            role="apiKey",
            permissions=parse_permissions_cached(tuple(permissions)),
            expires_time=expires_time,
        ),
        needs_use_update=last_used_time is None or last_used_time < now - LAST_USED_INTERVAL,
    )
