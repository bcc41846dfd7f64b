"""What people are told of their own account, by mail and in their log: in fixed words, with who, when and from where.

Mails go out behind the change that they tell of. Their links lead to our own pages and carry no secret.
"""

from datetime import datetime
from typing import Any

from django.conf import settings
from django.db import transaction

from companies.models import ApiKey, PersonalEvent, Stamp, User
from companies.running import mailing
from companies.security import log

LONGEST = 200  # characters of a name, or of what changed


def new_device(*, user: User, request: Any, now: datetime) -> None:
    """Somebody signed in with a browser that had not signed in to this account for 90 days."""
    mail(
        user,
        subject="New sign-in to your account",
        said=f"{log.device_of(request)} at the address {log.address_of(request)} signed in to your account "
        f"{at(now)}. It had not signed in for 90 days, or never.",
    )


def password_changed(*, user: User, now: datetime, request: Any = None) -> None:
    """``request`` is the person's own; without it staff or the command line set the password."""
    if request is None:
        detail = "by staff"
        log.note_act(user=user, event=PersonalEvent.PASSWORD_CHANGED, stamp=Stamp(time=now), detail=detail)
        said = f"The password of your account was changed by staff {at(now)}."
    else:
        log.note(user=user, event=PersonalEvent.PASSWORD_CHANGED, request=request, now=now)
        said = (
            f"The password of your account was changed {at(now)}, by {log.device_of(request)} at the address "
            f"{log.address_of(request)}."
        )
    mail(user, subject="Your password was changed", said=f"{said} All other sessions were signed out.")


def api_key_created(*, key: ApiKey, stamp: Stamp) -> None:
    """Told to the person who made it; what keys and the command line make is told to owners in the application."""
    user = User.objects.filter(pk=stamp.user_id).first() if stamp.user_id else None
    if user is None:
        return
    detail = f"{short(key.name)}, ending in {key.last_four}"
    log.note_act(user=user, event=PersonalEvent.API_KEY_CREATED, stamp=stamp, detail=detail)
    mail(
        user,
        subject="An API key was created",
        said=f"The API key {mailing.quoted(short(key.name))}, ending in {key.last_four}, was created for "
        f"{mailing.quoted(key.company.name)} with your account {at(stamp.time)}.",
    )


def factor_changed(*, user: User, what: str, stamp: Stamp) -> None:
    """A second factor was added or removed; ``what`` says which, as in "A passkey was added"."""
    told = mailing.one_line(what).rstrip(".")[:LONGEST]
    log.note_act(user=user, event=PersonalEvent.FACTOR_CHANGED, stamp=stamp, detail=told)
    mail(user, subject="Your second factor was changed", said=f"{told} {at(stamp.time)}.")


def email_change_asked(*, user: User, address: str, stamp: Stamp) -> None:
    """Told to the address that still counts."""
    mail(
        user,
        subject="A new e-mail address was asked for",
        said=f"{mailing.one_line(address)} was given as the new e-mail address of your account {at(stamp.time)}. "
        "Nothing changes before the link that was mailed there is opened.",
    )


def email_changed(*, old: str, new: str, stamp: Stamp) -> None:
    """Told to the old address; the new one has just been read."""
    said = f"The e-mail address of your account became {mailing.one_line(new)} {at(stamp.time)}."
    message = (
        f"{said} From now on you sign in with it, and mails go there.\n\n"
        "If it was not you, write to whoever runs this service at once: they can give you your account back."
    )
    subject = "Your e-mail address was changed"
    transaction.on_commit(lambda: mailing.send_later(to=[old], subject=subject, message=message))


def short(name: str) -> str:
    return name if len(name) <= LONGEST else f"{name[: LONGEST - 1]}…"


def at(moment: datetime) -> str:
    return f"on {moment:%-d %B %Y at %H:%M} UTC"


def mail(user: User, *, subject: str, said: str) -> None:
    message = (
        f"{said}\n\n"
        "If it was you, there is nothing to do. If not, set another password, which signs out everybody else:\n\n"
        f"{settings.APP_URL}/password-reset\n\n"
        "What happened to your account of late, and where it is signed in, you see here:\n\n"
        f"{settings.APP_URL}/security"
    )
    transaction.on_commit(lambda: mailing.send_later(to=[user.email], subject=subject, message=message))
