"""Security log of a user: sign-ins, failed attempts and changes of credentials. Kept for 90 days."""

from datetime import datetime, timedelta
from typing import Any

from django.db import connection, transaction

from companies.auth.calc.device_names import describe_device
from companies.models import SecurityEvent, SecurityLogEntry, User, generate_id
from companies.models.audit_context import AuditContext

LOG_RETENTION = timedelta(days=90)
MAX_FAILURES_PER_DAY = 100  # per user; more would only come from guessing
MAX_ADDRESS_LENGTH = 45


def get_device_name(request: Any) -> str:
    """Return the device name of a request."""
    return describe_device(request.META.get("HTTP_USER_AGENT", ""))


def get_client_address(request: Any) -> str:
    """Return the client address of a request."""
    return str(request.META.get("REMOTE_ADDR", ""))[:MAX_ADDRESS_LENGTH]


def record_security_event(
    *, user: User, event: SecurityEvent, request: Any, now: datetime, detail: str = "", browser: str = ""
) -> SecurityLogEntry:
    """Record an event of a browser request."""
    return SecurityLogEntry.objects.create(
        user=user,
        time=now,
        event=event,
        detail=detail,
        device=get_device_name(request),
        address=get_client_address(request),
        browser=browser,
        request_id=getattr(request, "request_id", ""),
    )


def record_security_action(
    *, user: User, event: SecurityEvent, context: AuditContext, detail: str = ""
) -> SecurityLogEntry:
    """Record an event of an operation without a browser request."""
    return SecurityLogEntry.objects.create(
        user=user, time=context.time, event=event, detail=detail, request_id=context.request_id
    )


# Raw SQL: the ORM has no INSERT from a SELECT.
INSERT_FAILURE_SQL = """
    INSERT INTO companies_personalentry (id, user_id, time, event, detail, device, address, browser, request_id)
    SELECT %(id)s, u.id, %(now)s, %(event)s, '', %(device)s, %(address)s, '', %(request)s
      FROM companies_user u
     WHERE u.canonical_email = %(email)s
       AND (SELECT count(*) FROM companies_personalentry e
             WHERE e.user_id = u.id AND e.event = %(event)s AND e.time > %(day)s) < %(most)s
"""


def record_sign_in_failure(*, email: str, request: Any, now: datetime) -> None:
    """Record a failed sign-in in the log of the address's user; nothing is stored if there is no such user.

    One statement for both cases, committed asynchronously: neither response nor timing reveals whether the
    user exists. `email` is in canonical form.
    """
    values = {
        "id": generate_id(),
        "now": now,
        "day": now - timedelta(days=1),
        "event": SecurityEvent.SIGN_IN_FAILED.value,
        "email": email,
        "most": MAX_FAILURES_PER_DAY,
        "device": get_device_name(request),
        "address": get_client_address(request),
        "request": getattr(request, "request_id", ""),
    }
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SET LOCAL synchronous_commit TO off")
        cursor.execute(INSERT_FAILURE_SQL, values)


def prune_security_log(*, now: datetime) -> int:
    """Delete entries older than LOG_RETENTION; return how many."""
    deleted, _ = SecurityLogEntry.objects.filter(time__lte=now - LOG_RETENTION).delete()
    return deleted
