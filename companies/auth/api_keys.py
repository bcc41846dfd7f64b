"""Creating, rolling and revoking API keys; ``companies.auth.authentication`` has their format and checks them."""

import secrets
import uuid
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.utils.translation import gettext as _

from companies import hooks
from companies.auth import emails
from companies.auth.access import Access
from companies.auth.authentication import (
    API_KEY_PREFIX,
    BASE62_DIGITS,
    RANDOM_DIGIT_COUNT,
    compute_checksum,
    hash_api_key_secret,
)
from companies.change import CompanyChange, change_company
from companies.errors import InvalidInputError, PermissionDeniedError
from companies.models import ApiKey, AuditContext, Company, generate_id
from companies.permissions import ADMIN_PERMISSIONS, Permissions, Role, parse_permissions, sort_permissions


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


def generate_api_key_text(key_id: uuid.UUID) -> str:
    """Generate the full text of a new key."""
    head = f"{API_KEY_PREFIX}{key_id}" + "".join(secrets.choice(BASE62_DIGITS) for _ in range(RANDOM_DIGIT_COUNT))
    return head + compute_checksum(head)


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
