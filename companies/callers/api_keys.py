"""Making and recognising API keys.

A key reads ``svc_`` + UUID (36 characters) + secret (36): 30 random base62 digits and 6 that are a CRC-32 over all that
precedes, so that a typo, or a find in someone's repository, is recognised without a look-up.
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
from companies.callers.access import Access
from companies.callers.credentials import COMPANY_COLUMNS, company_of, first_row, known_cached
from companies.changing import Change, changing
from companies.errors import Denied, Invalid
from companies.models import ApiKey, Company, DirectoryEntry, Stamp, new_id
from companies.permissions import ADMIN_LEVEL, Permissions, Role, in_order, known
from companies.security import telling

PREFIX = "svc_"
DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
RANDOM_DIGITS, CHECK_DIGITS = 30, 6  # 178 bits; 62**6 > 2**32
SHAPE = re.compile(r"svc_([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})([0-9A-Za-z]{36})", re.ASCII)
USED_EVERY = timedelta(minutes=1)  # lastUsedTime is written at most this often


class ExceedsCreator(Denied):
    """A key cannot hold a permission that its creator does not hold."""

    code = "permission_denied"


class OwnersOnly(Denied):
    """Only owners make keys with administrative permissions."""

    code = "permission_denied"


class OutlivesCreator(Denied):
    """A key cannot create one that is valid for longer than itself. Choose an earlier expiry."""

    code = "permission_denied"


class ExpiresInPast(Invalid):
    """The key would have expired already."""

    code = "expires_in_past"


@dataclass(frozen=True, slots=True)
class Minted:
    """A new key and its text, which is never seen again."""

    key: ApiKey
    text: str


def checksum(text: str) -> str:
    """Six base62 digits of the CRC-32 of the text."""
    number, digits = zlib.crc32(text.encode()), ""
    for _place in range(CHECK_DIGITS):
        number, digit = divmod(number, 62)
        digits = DIGITS[digit] + digits
    return digits


def digest(secret: str) -> bytes:
    """What is stored of a secret: its HMAC-SHA256 under the server's pepper; 178 random bits need no slow hash."""
    return hmac.digest(settings.API_KEY_PEPPER.encode(), secret.encode(), hashlib.sha256)


def new_text(key_id: uuid.UUID) -> str:
    """A fresh key's whole text."""
    head = f"{PREFIX}{key_id}" + "".join(secrets.choice(DIGITS) for _ in range(RANDOM_DIGITS))
    return head + checksum(head)


def parse(text: str) -> tuple[str, str] | None:
    """(id, secret) of a well-formed key whose check digits agree, else None."""
    match = SHAPE.fullmatch(text)
    if not match or checksum(text[:-CHECK_DIGITS]) != text[-CHECK_DIGITS:]:
        return None
    return match[1], match[2]


def mint(
    *,
    company: Company,
    stamp: Stamp,
    name: str,
    permissions: Permissions,
    creator: Access | None,
    expires_time: datetime | None = None,
) -> Minted:
    """Stores a new key and returns its text.

    ``creator`` is the maker's access, or None for the command line. Raises ExceedsCreator, OwnersOnly, OutlivesCreator,
    ExpiresInPast.
    """
    if creator is not None:
        if creator.expires_time and (expires_time is None or expires_time > creator.expires_time):
            raise OutlivesCreator
        if missing := permissions - creator.permissions:
            said = _("You do not hold {permissions} yourself.").format(permissions=", ".join(in_order(missing)))
            raise ExceedsCreator(said)
        if permissions & ADMIN_LEVEL and creator.role != Role.OWNER:
            raise OwnersOnly
    if expires_time is not None and expires_time <= stamp.time:
        raise ExpiresInPast(pointer="#/expiresTime")
    key_id = new_id()
    text = new_text(key_id)
    with changing(company, stamp=stamp) as change:
        key = ApiKey(id=key_id, company=company, name=name, digest=digest(text[-36:]), last_four=text[-4:])
        key.permissions, key.expires_time = in_order(permissions), expires_time
        change.store(key)
        after = {"name": name, "permissions": key.permissions, "expires_time": expires_time}
        change.record(key, "apiKey.created", after=after)
        hooks.api_key_created.run(key=key, stamp=stamp)
        telling.api_key_created(key=key, stamp=stamp)
    return Minted(key=key, text=text)


def roll(*, company: Company, stamp: Stamp, key_id: uuid.UUID | str, creator: Access, overlap: timedelta) -> Minted:
    """A new key with the old one's name and permissions; the old one ends after the overlap, or at once.

    Raises Missing, Stale, ExceedsCreator, OwnersOnly.
    """
    with changing(company, stamp=stamp) as change:
        key = change.locked(ApiKey.objects.live(stamp.time), key_id)
        minted = mint(
            company=company,
            stamp=stamp,
            name=key.name,
            permissions=known(key.permissions),
            creator=creator,
            expires_time=stamp.time + (key.expires_time - key.created_time) if key.expires_time else None,
        )
        before, after = key.expires_time, stamp.time + overlap
        if not overlap:
            end(change, key)
        elif before is None or after < before:
            key.change(stamp, expires_time=after)
            told = {"expires_time": after, "replaced_by": str(minted.key.id)}
            change.record(key, "apiKey.rolled", before={"expires_time": before}, after=told)
    return minted


def revoke(*, company: Company, stamp: Stamp, key_id: uuid.UUID | str) -> ApiKey:
    """The key's next request is refused; revoking twice keeps the first time. Raises Missing, Stale."""
    with changing(company, stamp=stamp) as change:
        key = change.locked(ApiKey, key_id)
        end(change, key)
    return key


def end(change: Change, key: ApiKey) -> None:
    if key.revoked_time is None:
        key.change(change.stamp, revoked_time=change.stamp.time)
        change.record(key, "apiKey.revoked", before={"name": key.name})


_LOOKUP = (
    f"SELECT k.digest, k.permissions, k.expires_time, k.revoked_time, k.last_used_time, {COMPANY_COLUMNS} "  # noqa: S608
    "FROM companies_apikey k JOIN companies_company c ON c.id = k.company_id WHERE k.id = %s AND k.company_id = %s"
)


@dataclass(frozen=True, slots=True)
class KeyCredential:
    """The caller behind a key: one company, fixed permissions."""

    id: str
    granted: Access
    stale: bool  # its last use was noted more than a minute ago
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

    def note_use(self, now: datetime) -> None:
        """Writes lastUsedTime, at most once a minute."""
        if self.stale:
            key = ApiKey.objects.filter(company_id=self.granted.company.id, id=self.id)
            key.exclude(last_used_time__gt=now - USED_EVERY).update(last_used_time=now)


@lru_cache(maxsize=10_000)
def home_of(key_id: str) -> uuid.UUID:
    """The company that a key is of, and stays of: each process asks the directory for it once. Raises LookupError,
    which is not kept, where there is no such key; whether it opens anything, its own row says."""
    return DirectoryEntry.objects.companies_of(key_id)[0]


def authenticate(text: str, *, now: datetime, company_id: uuid.UUID | None = None) -> KeyCredential | None:
    """The caller of a live key, or None: unknown, wrong, expired and revoked look the same.

    One query, in the company that the request's address names, or else in the key's own. Written without the ORM
    because it stands before every request of every script.
    """
    parsed = parse(text)
    if parsed is None:
        return None
    key_id, secret = parsed
    row = first_row(_LOOKUP, [key_id, str(company_id)]) if company_id else None
    if row is None:
        with suppress(LookupError):
            row = first_row(_LOOKUP, [key_id, str(home_of(key_id))])
    stored, permissions, expires, revoked, used = row[:5] if row else (b"", [], None, None, None)
    if not hmac.compare_digest(bytes(stored), digest(secret)) or row is None:
        return None
    if revoked is not None or (expires is not None and expires <= now):
        return None
    return KeyCredential(
        id=key_id,
        granted=Access(
            company=company_of(row[5:]),
            role="apiKey",
            permissions=known_cached(tuple(permissions)),
            expires_time=expires,
        ),
        stale=used is None or used < now - USED_EVERY,
    )
