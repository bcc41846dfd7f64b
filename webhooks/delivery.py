"""Delivery of events to endpoints: in order of commits, at least once, even if a worker is killed.

An endpoint gets the event after the last one it accepted, and no other before it accepts that one; so
events stay in order, and one number is its state. A worker holds a stored lease of some seconds; no
transaction is open during a call. Events are read in batches, and results stored for each quarter of a
second. A killed worker has not advanced the number: the next one sends these events again.
"""

import threading
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from django.db import connection, transaction

from companies.models import AuditEntry
from webhooks import actions
from webhooks.http import DeliveryOutcome, send_event
from webhooks.models import WebhookDelivery, WebhookEndpoint

RETRY_DELAYS = [
    timedelta(seconds=5), timedelta(minutes=5), timedelta(minutes=30), timedelta(hours=2), timedelta(hours=5),
    timedelta(hours=10), timedelta(hours=14), timedelta(hours=20), timedelta(hours=24),
]  # fmt: skip
LEASE_DURATION = timedelta(seconds=10)  # twice as long as a call may take
TURN_DURATION = timedelta(seconds=5)  # how long one endpoint gets events before others come first
BATCH_DURATION = timedelta(seconds=0.25)  # how long results are collected before they are stored
MAX_BATCH_EVENTS = 50  # events read at once
DELIVERY_RETENTION = timedelta(days=30)
PROGRESS_FIELDS = [
    "last_number", "failures", "due_time", "held_until", "last_delivery_time", "last_status", "failing_since",
]  # fmt: skip

Clock = Callable[[], datetime]


def list_waiting_endpoints(now: datetime) -> list[tuple[UUID, UUID]]:
    """Return (company, endpoint) of endpoints to call now, those called longest ago first.

    A requested test or redelivery does not move an endpoint forward.
    """
    due = WebhookEndpoint.objects.due(now).values_list("last_delivery_time", "id", "company_id")
    requested = WebhookDelivery.objects.requested().for_unleased_endpoints(now)
    endpoints_to_call = {*due, *requested.values_list("endpoint__last_delivery_time", "endpoint_id", "company_id")}
    in_display_order = sorted(endpoints_to_call, key=lambda row: (row[0] is not None, row[0] or now, row[1]))
    return [(company_id, endpoint_id) for _, endpoint_id, company_id in in_display_order]


@dataclass(frozen=True, slots=True)
class DeliveryAttempt:
    """One call of an endpoint: its event, its outcome, its time, and the request if it was sent by hand."""

    entry: AuditEntry
    outcome: DeliveryOutcome
    time: datetime
    requested: WebhookDelivery | None  # the request, if it was sent by hand


def deliver_to_endpoint(*, company_id: UUID, endpoint_id: UUID, clock: Clock, stop: threading.Event) -> int:
    """Send an endpoint its events until one fails, its turn ends, or `stop` is set; return the number of calls.

    Nothing is sent while another worker has the lease. Requested deliveries come first.
    """
    call_count, turn_end = 0, clock() + TURN_DURATION
    endpoint = acquire_lease(company_id=company_id, endpoint_id=endpoint_id, now=clock())
    while endpoint is not None:
        attempts = [] if clock() >= turn_end or stop.is_set() else deliver_batch(endpoint, clock=clock, stop=stop)
        if not attempts:
            release_lease(endpoint)
            break
        call_count += len(attempts)
        endpoint = record_attempts(endpoint, attempts, now=clock())
        if endpoint is not None and has_exhausted_retries(endpoint, attempts[-1]):
            release_lease(endpoint)
            actions.disable_failing_endpoint(company_id=company_id, endpoint_id=endpoint_id, now=clock())
            break
    return call_count


def deliver_batch(endpoint: WebhookEndpoint, *, clock: Clock, stop: threading.Event) -> list[DeliveryAttempt]:
    """Send a requested delivery, or events until one fails, the endpoint changes, or results must be stored."""
    requested, batch_end = find_requested_delivery(endpoint), clock() + BATCH_DURATION
    entries = (
        load_next_events_or_advance(endpoint, now=clock())
        if requested is None
        else load_event_or_delete_request(requested)
    )
    attempts: list[DeliveryAttempt] = []
    for entry in entries:
        if attempts and (clock() >= batch_end or stop.is_set() or not is_endpoint_unchanged(endpoint)):
            break
        outcome = send_event(endpoint, entry, now=clock())
        if outcome is None:  # nothing was sent; it is tried in a later turn
            break
        attempts.append(DeliveryAttempt(entry, outcome, clock(), requested))
        if not outcome.is_accepted:
            break
    return attempts


def acquire_lease(*, company_id: UUID, endpoint_id: UUID, now: datetime) -> WebhookEndpoint | None:
    """Lease the endpoint until `held_until`; None if another worker has it."""
    with transaction.atomic():
        rows = WebhookEndpoint.objects.for_company(company_id).filter(id=endpoint_id).unleased(now)
        endpoint = rows.select_for_update(skip_locked=True).first()
        if endpoint is not None:
            endpoint.held_until = now + LEASE_DURATION
            endpoint.save(update_fields=["held_until"])
    return endpoint


def lock_leased_endpoint(endpoint: WebhookEndpoint) -> WebhookEndpoint | None:
    """Return the current row, locked; None if it was deleted or the lease has passed to another worker."""
    rows = WebhookEndpoint.objects.for_company(endpoint.company_id).filter(
        id=endpoint.id, held_until=endpoint.held_until
    )
    return rows.select_for_update().first()


def is_endpoint_unchanged(endpoint: WebhookEndpoint) -> bool:
    """Return whether the endpoint was neither changed nor deleted since it was read."""
    rows = WebhookEndpoint.objects.for_company(endpoint.company_id).filter(
        id=endpoint.id, held_until=endpoint.held_until
    )
    return rows.filter(last_updated_time=endpoint.last_updated_time).exists()


def release_lease(endpoint: WebhookEndpoint) -> None:
    rows = WebhookEndpoint.objects.for_company(endpoint.company_id).filter(
        id=endpoint.id, held_until=endpoint.held_until
    )
    rows.update(held_until=None)


def find_requested_delivery(endpoint: WebhookEndpoint) -> WebhookDelivery | None:
    return (
        WebhookDelivery.objects.for_company(endpoint.company_id)
        .filter(endpoint=endpoint)
        .requested()
        .order_by("id")
        .first()
    )


def load_event_or_delete_request(delivery: WebhookDelivery) -> list[AuditEntry]:
    """Return the event of a requested delivery as a list; delete the request if the event is no longer in the log."""
    entry = AuditEntry.objects.for_company(delivery.company_id).filter(id=delivery.event_id).first()
    if entry is None:
        delivery.delete()
        return []
    return [entry]


def load_next_events_or_advance(endpoint: WebhookEndpoint, *, now: datetime) -> list[AuditEntry]:
    """Return the next events of an endpoint; if none of them has its types, advance past them."""
    if not endpoint.enabled or (endpoint.due_time is not None and endpoint.due_time > now):
        return []
    entries = AuditEntry.objects.for_company(endpoint.company_id)
    newest = entries.get_newest_number()  # events committed during the query are not skipped
    later_events = (
        entries.after_number(endpoint.last_number).filter(number__lte=newest).exclude(action=actions.TEST_EVENT_TYPE)
    )
    if endpoint.types is not None:
        later_events = later_events.filter(action__in=endpoint.types)
    events = list(later_events.defer("before", "after")[:MAX_BATCH_EVENTS])
    if not events and newest > endpoint.last_number:
        leased_rows = WebhookEndpoint.objects.for_company(endpoint.company_id).filter(
            id=endpoint.id, held_until=endpoint.held_until
        )
        leased_rows.update(last_number=newest)
    return events


def record_attempts(
    endpoint: WebhookEndpoint, attempts: list[DeliveryAttempt], *, now: datetime
) -> WebhookEndpoint | None:
    """Store attempts and advance the endpoint past accepted events; return it with a renewed lease, or None."""
    with transaction.atomic():
        disable_synchronous_commit()
        row = lock_leased_endpoint(endpoint)
        if row is None:
            return None
        WebhookDelivery.objects.bulk_create(
            [build_delivery(row, attempt) for attempt in attempts if attempt.requested is None]
        )
        for attempt in attempts:
            if attempt.requested is None:
                advance_endpoint(row, attempt)
                continue
            build_delivery(row, attempt).save(force_update=True)
            if attempt.outcome.is_accepted:
                row.due_time = None  # it responds again, so no need to wait
        row.last_delivery_time, row.last_status = attempts[-1].time, attempts[-1].outcome.status
        row.held_until = now + LEASE_DURATION
        row.save(update_fields=PROGRESS_FIELDS)
    return row


def build_delivery(row: WebhookEndpoint, attempt: DeliveryAttempt) -> WebhookDelivery:
    """Return the delivery of an attempt: the requested one, or a new one."""
    delivery = attempt.requested or WebhookDelivery(
        company_id=row.company_id, endpoint=row, event_id=attempt.entry.id, type=attempt.entry.action
    )
    delivery.time = attempt.time
    for name in ("status", "duration_ms", "response", "error"):
        setattr(delivery, name, getattr(attempt.outcome, name))
    return delivery


def disable_synchronous_commit() -> None:
    """Disable synchronous commit: what a database crash loses, at most half a second, is sent again."""
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL synchronous_commit TO off")


def advance_endpoint(row: WebhookEndpoint, attempt: DeliveryAttempt) -> None:
    """Advance to the next event, or schedule the next attempt of the same."""
    if attempt.outcome.is_accepted:
        row.last_number, row.failures, row.due_time, row.failing_since = attempt.entry.number, 0, None, None
    else:
        wait = RETRY_DELAYS[min(row.failures, len(RETRY_DELAYS) - 1)]
        row.due_time = attempt.time + max(wait, attempt.outcome.retry_after or wait)
        row.failures += 1
        row.failing_since = row.failing_since or attempt.time


def has_exhausted_retries(endpoint: WebhookEndpoint, last: DeliveryAttempt) -> bool:
    return last.requested is None and (endpoint.failures > len(RETRY_DELAYS) or last.outcome.is_gone)


def prune_webhook_deliveries(*, now: datetime) -> int:
    """Delete old deliveries; return their number."""
    deleted, _ = WebhookDelivery.objects.filter(time__lt=now - DELIVERY_RETENTION).delete()
    return deleted
