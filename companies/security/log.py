"""A person's own log: sign-ins, failures, and what changed in how they sign in. Kept for 90 days."""

from datetime import datetime, timedelta
from typing import Any

from django.db import connection, transaction

from companies.models import PersonalEntry, PersonalEvent, User, new_id
from companies.models.stamps import Stamp
from companies.security.calc import device

KEPT = timedelta(days=90)
FAILURES_A_DAY = 100  # of one person: more would be written by whoever guesses, and read by nobody
LONGEST_ADDRESS = 45


def device_of(request: Any) -> str:
    return device(request.META.get("HTTP_USER_AGENT", ""))


def address_of(request: Any) -> str:
    return str(request.META.get("REMOTE_ADDR", ""))[:LONGEST_ADDRESS]


def note(
    *, user: User, event: PersonalEvent, request: Any, now: datetime, detail: str = "", browser: str = ""
) -> PersonalEntry:
    """Writes what somebody did with a browser."""
    return PersonalEntry.objects.create(
        user=user,
        time=now,
        event=event,
        detail=detail,
        device=device_of(request),
        address=address_of(request),
        browser=browser,
        request_id=getattr(request, "request_id", ""),
    )


def note_act(*, user: User, event: PersonalEvent, stamp: Stamp, detail: str = "") -> PersonalEntry:
    """Writes what an act did, which knows of no browser."""
    return PersonalEntry.objects.create(
        user=user, time=stamp.time, event=event, detail=detail, request_id=stamp.request_id
    )


FAILED = """
    INSERT INTO companies_personalentry (id, user_id, time, event, detail, device, address, browser, request_id)
    SELECT %(id)s, u.id, %(now)s, %(event)s, '', %(device)s, %(address)s, '', %(request)s
      FROM companies_user u
     WHERE u.canonical_email = %(email)s
       AND (SELECT count(*) FROM companies_personalentry e
             WHERE e.user_id = u.id AND e.event = %(event)s AND e.time > %(day)s) < %(most)s
"""


def note_failure(*, email: str, request: Any, now: datetime) -> None:
    """Writes a failure to sign in into the log of the address's owner; an address of nobody leaves nothing.

    One statement for both, whose commit waits for no disk: neither text nor time tells which it was. ``email`` in its
    canonical form.
    """
    values = {
        "id": new_id(),
        "now": now,
        "day": now - timedelta(days=1),
        "event": PersonalEvent.SIGN_IN_FAILED.value,
        "email": email,
        "most": FAILURES_A_DAY,
        "device": device_of(request),
        "address": address_of(request),
        "request": getattr(request, "request_id", ""),
    }
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SET LOCAL synchronous_commit TO off")
        cursor.execute(FAILED, values)


def prune(*, now: datetime) -> int:
    """Deletes entries that are kept no longer; returns how many."""
    deleted, _ = PersonalEntry.objects.filter(time__lte=now - KEPT).delete()
    return deleted
