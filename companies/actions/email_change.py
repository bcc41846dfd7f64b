"""Changing a user's e-mail address: requested by the user, confirmed by the link mailed to the new address.

The response never reveals whether an address is taken; in that case no link is sent.
"""

import hashlib
import secrets
from datetime import timedelta
from hmac import compare_digest
from typing import Any

from django.conf import settings
from django.db import IntegrityError, transaction
from django.utils.translation import gettext as _

from companies import email_addresses, email_limits, mailer
from companies.actions import members
from companies.auth import emails as auth_emails
from companies.auth import security_log, throttling
from companies.errors import ConflictError, TooManyRequestsError
from companies.locales import get_user_locale, use_locale
from companies.models import AuditContext, EmailChange, SecurityEvent, User

LINK_TTL = timedelta(hours=24)
HOUR_SECONDS, MAX_REQUESTS_PER_HOUR = 3600, 5  # per user


class EmailChangeEnded(ConflictError):
    """This link is no longer valid. Sign in with the right account or request a new link."""

    code = "email_change_ended"


class TooManyEmailChanges(TooManyRequestsError):
    """You requested too many email changes. Try again in an hour."""

    code = "too_many_email_changes"


def request_email_change(*, user: User, email: str, context: AuditContext) -> None:
    """Mail a confirmation link to the new address and a notice to the old one; an earlier link becomes invalid.

    Raises:
        InvalidEmail, TooManyEmailChanges
    """
    address, token = email_addresses.to_deliverable_email(email.strip()), secrets.token_urlsafe(32)
    budget = throttling.consume_budget(
        f"email-change:{user.pk}",
        now=context.time.timestamp(),
        limit=MAX_REQUESTS_PER_HOUR,
        seconds=HOUR_SECONDS,
        exact=True,
    )
    if budget.is_exceeded:
        raise TooManyEmailChanges(wait=budget.resets_in)
    if email_addresses.to_canonical_email(address) == user.canonical_email and address == user.email:
        return
    values = {"email": address, "token_digest": hash_email_change_token(token), "expires_time": context.time + LINK_TTL}
    with transaction.atomic():
        EmailChange.objects.update_or_create(user=user, defaults=values)
        auth_emails.send_email_change_requested_email(user=user, address=address, context=context)
    existing_user = User.objects.find_by_email(address)
    may_send = email_limits.consume_email_limit(address, now=context.time)
    recipients = [address] if may_send and (existing_user is None or existing_user.pk == user.pk) else []
    with use_locale(get_user_locale(user)):
        mailer.send_email_later(
            to=recipients, subject=_("Confirm your new email address"), message=build_email_change_text(token)
        )


def build_email_change_text(token: str) -> str:
    """Build the text of the confirmation e-mail."""
    return _(
        "Sign in to Tidebook and confirm your new email address:\n\n{link}\n\nThe link is valid for "
        "one day and can be used once. If you did not request this, ignore this email."
    ).format(link=f"{settings.APP_URL}/profile/email/{token}")


def get_pending_email_change(*, user: User, token: str, context: AuditContext) -> EmailChange:
    """Return the pending change of the user's own link. Raises EmailChangeEnded."""
    row = EmailChange.objects.filter(user=user).first()
    if (
        row is None
        or not compare_digest(row.token_digest, hash_email_change_token(token))
        or row.expires_time <= context.time
    ):
        raise EmailChangeEnded
    return row


def confirm_email_change(*, user: User, token: str, request: Any, context: AuditContext) -> str:
    """Change the address, notify the old one, and return the new one; the link becomes invalid. Raises
    EmailChangeEnded.
    """
    try:
        with transaction.atomic():
            person = User.objects.select_for_update().get(pk=user.pk)
            row, before = (
                get_pending_email_change(user=person, token=token, context=context),
                members.snapshot_user(person),
            )
            old_email = person.email
            row.delete()
            person.email = row.email
            person.save(update_fields=["email", "canonical_email"])
            members.record_user_change(user=person, before=before, context=context)
            detail = f"{old_email} changed to {row.email}"[: auth_emails.MAX_TEXT_LENGTH]
            security_log.record_security_event(
                user=person, event=SecurityEvent.EMAIL_CHANGED, request=request, now=context.time, detail=detail
            )
            auth_emails.send_email_changed_email(user=person, old_email=old_email, context=context)
    except IntegrityError:  # the address was taken meanwhile
        raise EmailChangeEnded from None
    return row.email


def hash_email_change_token(token: str) -> str:
    """Return the stored digest of a token, which has 256 random bits."""
    return hashlib.sha256(token.encode()).hexdigest()
