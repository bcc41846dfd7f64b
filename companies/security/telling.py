"""What people are told of their own account, by mail and in their log: in fixed words, with who, when and from where.

A mail speaks the language of the reader's profile; the log is kept in English. Mails go out behind the change that they
tell of. Their links lead to our own pages and carry no secret.
"""

from datetime import datetime
from typing import Any

from django.conf import settings
from django.db import transaction
from django.utils.translation import gettext as _

from companies.locales import current, locale_of_person, reading_as
from companies.models import ApiKey, PersonalEvent, Stamp, User
from companies.running import mailing
from companies.security import log
from companies.security.words_told import retold

LONGEST = 200  # characters of a name, or of what changed


def new_device(*, user: User, request: Any, now: datetime) -> None:
    """Somebody signed in with a browser that had not signed in to this account for 90 days."""
    with reading_as(locale_of_person(user)):
        said = _(
            "{device} at the address {address} signed in to your account {when}. "
            "It had not signed in for 90 days, or never."
        )
        mail(user, subject=_("New sign-in to your account"), said=said.format(**by(request), when=at(now)))


def password_changed(*, user: User, now: datetime, request: Any = None) -> None:
    """``request`` is the person's own; without it staff or the command line set the password."""
    if request is None:
        log.note_act(user=user, event=PersonalEvent.PASSWORD_CHANGED, stamp=Stamp(time=now), detail="by staff")
    else:
        log.note(user=user, event=PersonalEvent.PASSWORD_CHANGED, request=request, now=now)
    with reading_as(locale_of_person(user)):
        if request is None:
            said = _(
                "The password of your account was changed by staff {when}. All other sessions were signed out."
            ).format(when=at(now))
        else:
            said = _(
                "The password of your account was changed {when}, by {device} at the address {address}. "
                "All other sessions were signed out."
            ).format(when=at(now), **by(request))
        mail(user, subject=_("Your password was changed"), said=said)


def api_key_created(*, key: ApiKey, stamp: Stamp) -> None:
    """Told to the person who made it; what keys and the command line make is told to owners in the application."""
    user = User.objects.filter(pk=stamp.user_id).first() if stamp.user_id else None
    if user is None:
        return
    detail = f"{short(key.name)}, ending in {key.last_four}"
    log.note_act(user=user, event=PersonalEvent.API_KEY_CREATED, stamp=stamp, detail=detail)
    with reading_as(locale_of_person(user)):
        said = _("The API key {key}, ending in {last}, was created for {company} with your account {when}.").format(
            key=mailing.quoted(short(key.name)),
            last=key.last_four,
            company=mailing.quoted(key.company.name),
            when=at(stamp.time),
        )
        mail(user, subject=_("An API key was created"), said=said)


def factor_changed(*, user: User, what: str, stamp: Stamp) -> None:
    """A second factor was added or removed; ``what`` says which in English, as in "A passkey was added"."""
    told = mailing.one_line(what).rstrip(".")[:LONGEST]
    log.note_act(user=user, event=PersonalEvent.FACTOR_CHANGED, stamp=stamp, detail=told)
    with reading_as(locale_of_person(user)):
        said = _("{what} {when}.").format(what=retold(told), when=at(stamp.time))
        mail(user, subject=_("Your second factor was changed"), said=said)


def email_change_asked(*, user: User, address: str, stamp: Stamp) -> None:
    """Told to the address that still counts."""
    with reading_as(locale_of_person(user)):
        said = _(
            "{address} was given as the new e-mail address of your account {when}. "
            "Nothing changes before the link that was mailed there is opened."
        ).format(address=mailing.one_line(address), when=at(stamp.time))
        mail(user, subject=_("A new e-mail address was asked for"), said=said)


def email_changed(*, user: User, old: str, stamp: Stamp) -> None:
    """Told to the old address; the new one has just been read."""
    with reading_as(locale_of_person(user)):
        subject = _("Your e-mail address was changed")
        message = _(
            "The e-mail address of your account became {address} {when}. From now on you sign in with it, and mails go "
            "there.\n\n"
            "If it was not you, write to whoever runs this service at once: they can give you your account back."
        ).format(address=mailing.one_line(user.email), when=at(stamp.time))
    transaction.on_commit(lambda: mailing.send_later(to=[old], subject=subject, message=message))


def by(request: Any) -> dict[str, str]:
    return {"device": retold(log.device_of(request)), "address": log.address_of(request)}


def short(name: str) -> str:
    return name if len(name) <= LONGEST else f"{name[: LONGEST - 1]}…"


def at(moment: datetime) -> str:
    return _("on {day} at {time} UTC").format(day=current().long(moment), time=f"{moment:%H:%M}")


def mail(user: User, *, subject: str, said: str) -> None:
    message = _(
        "{said}\n\n"
        "If it was you, there is nothing to do. If not, set another password, which signs out everybody else:\n\n"
        "{reset}\n\n"
        "What happened to your account of late, and where it is signed in, you see here:\n\n"
        "{security}"
    ).format(said=said, reset=f"{settings.APP_URL}/password-reset", security=f"{settings.APP_URL}/security")
    transaction.on_commit(lambda: mailing.send_later(to=[user.email], subject=subject, message=message))
