"""Ending sessions: one, the others, all; an ended one opens nothing at its next request."""

from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import transaction

from companies.factors import keeping
from companies.models import Session, Stamp, User
from companies.security import telling

MOST = 50  # sessions of one person; with one more the one that was seen longest ago ends


def live(user: User, *, now: datetime) -> list[Session]:
    """Somebody's sessions that still open something, the latest used first."""
    rows = Session.objects.of(user).filter(
        expire_date__gt=now,
        seen_time__gt=now - timedelta(seconds=settings.SESSION_IDLE),
        auth_time__gt=now - timedelta(seconds=settings.SESSION_COOKIE_AGE),
    )
    return list(rows.latest_first()[: MOST + 1])


def end_one(user: User, *, handle: str) -> Session | None:
    """Ends the session of this handle and returns what it was; None where it has ended, or was never theirs."""
    for row in Session.objects.of(user):
        if row.handle == handle:
            deleted, _ = Session.objects.of(user).filter(session_key=row.session_key).delete()
            return row if deleted else None
    return None


def end_others(user: User, *, but: str | None = None) -> int:
    """Ends all sessions of somebody but the one of this key; returns how many."""
    deleted, _ = Session.objects.of(user).exclude(session_key=but or "").delete()
    return int(deleted)


def end_oldest(user: User, *, but: str | None) -> None:
    """Makes room for the session of this key, which has just begun."""
    others = Session.objects.of(user).exclude(session_key=but or "").latest_first()
    Session.objects.filter(pk__in=others.values("pk")[MOST - 1 :]).delete()


def password_changed(*, user: User, now: datetime, request: Any = None, but: str | None = None) -> None:
    """What follows from a new password, whoever set it: all other sessions end, the person's log and a mail say so."""
    with transaction.atomic():
        end_others(user, but=but)
        keeping.forgive(user.pk)
        telling.password_changed(user=user, now=now, request=request)


@transaction.atomic
def factors_lost(*, user: User, stamp: Stamp) -> bool:
    """Takes every second factor from somebody who lost them, and ends their sessions: whoever found the device is out
    too. False where there was none."""
    if not keeping.remove_all(user=user, stamp=stamp):
        return False
    end_others(user)
    return True


def person_deactivated(*, user: User, stamp: Stamp) -> None:
    """Sessions of somebody who was switched off do not count again when they are switched on."""
    end_others(user)
