"""Another e-mail address for an account: asked for by its person, true once they open the link that was mailed there.

Whether an address is somebody's already is told to nobody: the answer is the same, and then no link goes out.
"""

import hashlib
import secrets
from datetime import timedelta
from hmac import compare_digest
from typing import Any

from django.conf import settings
from django.db import IntegrityError, transaction
from django.utils.translation import gettext as _

from companies import emails
from companies.api import throttling
from companies.errors import Conflict, TooMany
from companies.locales import locale_of_person, reading_as
from companies.membership import members
from companies.models import EmailChange, PersonalEvent, Stamp, User
from companies.running import letters, mailing
from companies.security import log, telling

HOLDS = timedelta(hours=24)
AN_HOUR, MOST_AN_HOUR = 3600, 5  # addresses that one person asks for


class ChangeEnded(Conflict):
    """The link was used, is older than a day, was followed by another one, or is not for the account signed in here."""

    code = "email_change_ended"


class TooManyChanges(TooMany):
    """Five addresses were asked for within an hour; try again later."""

    code = "too_many_email_changes"


def ask(*, user: User, email: str, stamp: Stamp) -> None:
    """Mails a link to the new address, and word of it to the old one; a link from before ends. Raises InvalidEmail,
    TooManyChanges."""
    address, token = emails.deliverable(email.strip()), secrets.token_urlsafe(32)
    budget = throttling.spend(
        f"email-change:{user.pk}", now=stamp.time.timestamp(), limit=MOST_AN_HOUR, seconds=AN_HOUR, exact=True
    )
    if budget.exceeded:
        raise TooManyChanges(wait=budget.resets_in)
    if emails.canonical(address) == user.canonical_email and address == user.email:
        return
    stored = {"email": address, "token_digest": digest(token), "expires_time": stamp.time + HOLDS}
    with transaction.atomic():
        EmailChange.objects.update_or_create(user=user, defaults=stored)
        telling.email_change_asked(user=user, address=address, stamp=stamp)
    other = User.objects.with_email(address)
    may_send = letters.may_send(address, now=stamp.time)
    to = [address] if may_send and (other is None or other.pk == user.pk) else []
    with reading_as(locale_of_person(user)):
        mailing.send_later(to=to, subject=_("Confirm your new e-mail address"), message=text(token))


def text(token: str) -> str:
    return _(
        "This address was given as the new one of an account in Tidebook. Sign in there and confirm it here:\n\n"
        "{link}\n\n"
        "The link holds for a day and works once. If you did not expect this, you can ignore this message."
    ).format(link=f"{settings.APP_URL}/profile/email/{token}")


def asked(*, user: User, token: str, stamp: Stamp) -> EmailChange:
    """What the link of the person's own would change. Raises ChangeEnded."""
    row = EmailChange.objects.filter(user=user).first()
    if row is None or not compare_digest(row.token_digest, digest(token)) or row.expires_time <= stamp.time:
        raise ChangeEnded
    return row


def confirm(*, user: User, token: str, request: Any, stamp: Stamp) -> str:
    """The address changes, the old one is told, and the link ends. Returns the new one. Raises ChangeEnded."""
    try:
        with transaction.atomic():
            person = User.objects.select_for_update().get(pk=user.pk)
            row, before = asked(user=person, token=token, stamp=stamp), members.shown(person)
            old = person.email
            row.delete()
            person.email = row.email
            person.save(update_fields=["email", "canonical_email"])
            members.person_changed(user=person, before=before, stamp=stamp)
            detail = f"{old} became {row.email}"[: telling.LONGEST]
            log.note(user=person, event=PersonalEvent.EMAIL_CHANGED, request=request, now=stamp.time, detail=detail)
            telling.email_changed(user=person, old=old, stamp=stamp)
    except IntegrityError:  # it became somebody else's meanwhile
        raise ChangeEnded from None
    return row.email


def digest(token: str) -> str:
    """What is stored of a token, which has 256 random bits."""
    return hashlib.sha256(token.encode()).hexdigest()
