"""Telling endpoints of events: each in the order of commits, at least once, also where a deliverer is killed.

An endpoint is told of the event after the last one it took, and of no other before it took that: so its events stay in
order, and one number says what is left. Who tells it has it in hand for some seconds, which is stored; no transaction
is open while it is called. Its events are read some at a time, and what it answered is stored some at a time, a quarter
of a second's. A deliverer that is killed has not moved the number over those: the next one sends them again.
"""

import threading
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from django.db import connection, transaction

from companies.models import AuditEntry, LogMonth
from webhooks import endpoints
from webhooks.models import WebhookDelivery, WebhookEndpoint
from webhooks.sending import Outcome, send

RETRIES = [
    timedelta(seconds=5), timedelta(minutes=5), timedelta(minutes=30), timedelta(hours=2), timedelta(hours=5),
    timedelta(hours=10), timedelta(hours=14), timedelta(hours=20), timedelta(hours=24),
]  # fmt: skip
HELD = timedelta(seconds=10)  # twice as long as a call may take
A_TURN = timedelta(seconds=5)  # in which one is told of one event after the other; then others come first
A_ROUND = timedelta(seconds=0.25)  # after which what was answered is stored
MOST_OF_A_ROUND = 50  # events that are read together
KEPT = timedelta(days=30)
PROGRESS = [
    "last_number", "failures", "due_time", "held_until", "last_delivery_time", "last_status", "failing_since",
]  # fmt: skip

Clock = Callable[[], datetime]


def waiting(now: datetime) -> list[tuple[UUID, UUID]]:
    """Return (company, endpoint) of those to tell something now, those first that were told longest ago.

    What somebody asked for by hand, a test or a repetition, gives an endpoint no better place.
    """
    due = WebhookEndpoint.objects.due(now).values_list("last_delivery_time", "id", "company_id")
    asked = WebhookDelivery.objects.asked().of_free_endpoints(now)
    both = {*due, *asked.values_list("endpoint__last_delivery_time", "endpoint_id", "company_id")}
    in_order = sorted(both, key=lambda row: (row[0] is not None, row[0] or now, row[1]))
    return [(company_id, endpoint_id) for _, endpoint_id, company_id in in_order]


@dataclass(frozen=True, slots=True)
class Try:
    """One call: of which event it told, what came back, and when."""

    entry: AuditEntry
    outcome: Outcome
    time: datetime
    asked: WebhookDelivery | None  # where somebody asked for it by hand


def deliver(*, company_id: UUID, endpoint_id: UUID, clock: Clock, stop: threading.Event) -> int:
    """Tells one endpoint what there is to tell, until it does not answer, its turn is over, or all is to stop; returns
    how often it was called.

    Nothing where another deliverer has it in hand. What is asked for by hand comes first.
    """
    called, over = 0, clock() + A_TURN
    endpoint = take(company_id=company_id, endpoint_id=endpoint_id, now=clock())
    while endpoint is not None:
        tries = [] if clock() >= over or stop.is_set() else a_round(endpoint, clock=clock, stop=stop)
        if not tries:
            let_go(endpoint)
            break
        called += len(tries)
        endpoint = note(endpoint, tries, now=clock())
        if endpoint is not None and has_failed_enough(endpoint, tries[-1]):
            let_go(endpoint)
            endpoints.give_up(company_id=company_id, endpoint_id=endpoint_id, now=clock())
            break
    return called


def a_round(endpoint: WebhookEndpoint, *, clock: Clock, stop: threading.Event) -> list[Try]:
    """Sends what was asked for, or else one event after the other until one is not taken, somebody changed the
    endpoint, or it is time to store what was answered."""
    asked, over = next_asked(endpoint), clock() + A_ROUND
    entries = next_events(endpoint, now=clock()) if asked is None else event_of(asked)
    tries: list[Try] = []
    for entry in entries:
        if tries and (clock() >= over or stop.is_set() or not is_as_it_was(endpoint)):
            break
        outcome = send(endpoint, entry, now=clock())
        if outcome is None:  # nothing was tried; its turn comes again
            break
        tries.append(Try(entry, outcome, clock(), asked))
        if not outcome.taken:
            break
    return tries


def take(*, company_id: UUID, endpoint_id: UUID, now: datetime) -> WebhookEndpoint | None:
    """The endpoint, in nobody else's hands until ``held_until``; None where it is in others'."""
    with transaction.atomic():
        rows = WebhookEndpoint.objects.of(company_id).filter(id=endpoint_id).free(now)
        endpoint = rows.select_for_update(skip_locked=True).first()
        if endpoint is not None:
            endpoint.held_until = now + HELD
            endpoint.save(update_fields=["held_until"])
    return endpoint


def still_held(endpoint: WebhookEndpoint) -> WebhookEndpoint | None:
    """The row as it is now, locked; None where it was deleted, or somebody else took it because it took too long."""
    rows = WebhookEndpoint.objects.of(endpoint.company_id).filter(id=endpoint.id, held_until=endpoint.held_until)
    return rows.select_for_update().first()


def is_as_it_was(endpoint: WebhookEndpoint) -> bool:
    """Whether nobody changed or deleted it since it was read."""
    rows = WebhookEndpoint.objects.of(endpoint.company_id).filter(id=endpoint.id, held_until=endpoint.held_until)
    return rows.filter(last_updated_time=endpoint.last_updated_time).exists()


def let_go(endpoint: WebhookEndpoint) -> None:
    rows = WebhookEndpoint.objects.of(endpoint.company_id).filter(id=endpoint.id, held_until=endpoint.held_until)
    rows.update(held_until=None)


def next_asked(endpoint: WebhookEndpoint) -> WebhookDelivery | None:
    return WebhookDelivery.objects.of(endpoint.company_id).filter(endpoint=endpoint).asked().order_by("id").first()


def event_of(delivery: WebhookDelivery) -> list[AuditEntry]:
    """The one; none where its month was taken out of the log meanwhile: then nobody waits for it any longer."""
    entry = AuditEntry.objects.of(delivery.company_id).found(delivery.event_id)
    if entry is None:
        delivery.delete()
        return []
    return [entry]


def next_events(endpoint: WebhookEndpoint, *, now: datetime) -> list[AuditEntry]:
    """The first events after the last one that it took; where there is none for it, the others are passed over for
    good."""
    if not endpoint.enabled or (endpoint.due_time is not None and endpoint.due_time > now):
        return []
    newest = LogMonth.objects.of(
        endpoint.company_id
    ).newest_number()  # what is committed while we look is not passed over
    later = AuditEntry.objects.after(endpoint.last_number, company_id=endpoint.company_id)
    later = later.filter(number__lte=newest).exclude(action=endpoints.TESTED)
    if endpoint.types is not None:
        later = later.filter(action__in=endpoint.types)
    found = list(later.defer("before", "after")[:MOST_OF_A_ROUND])
    if not found and newest > endpoint.last_number:
        held = WebhookEndpoint.objects.of(endpoint.company_id).filter(id=endpoint.id, held_until=endpoint.held_until)
        held.update(last_number=newest)
    return found


def note(endpoint: WebhookEndpoint, tries: list[Try], *, now: datetime) -> WebhookEndpoint | None:
    """Keeps what came back, and moves on over what was taken; the endpoint as it is now, held on, or None."""
    with transaction.atomic():
        not_waiting_for_the_disk()
        row = still_held(endpoint)
        if row is None:
            return None
        WebhookDelivery.objects.bulk_create([kept(row, each) for each in tries if each.asked is None])
        for each in tries:
            if each.asked is None:
                move(row, each)
                continue
            kept(row, each).save(force_update=True)
            if each.outcome.taken:
                row.due_time = None  # it answers again: no need to wait
        row.last_delivery_time, row.last_status = tries[-1].time, tries[-1].outcome.status
        row.held_until = now + HELD
        row.save(update_fields=PROGRESS)
    return row


def kept(row: WebhookEndpoint, tried: Try) -> WebhookDelivery:
    """The delivery that tells of it: the one that was asked for, or a new one."""
    delivery = tried.asked or WebhookDelivery(
        company_id=row.company_id, endpoint=row, event_id=tried.entry.id, type=tried.entry.action
    )
    delivery.time = tried.time
    for name in ("status", "duration_ms", "response", "error"):
        setattr(delivery, name, getattr(tried.outcome, name))
    return delivery


def not_waiting_for_the_disk() -> None:
    """What a crash of the database makes it forget of this transaction, the last half second, is sent again."""
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL synchronous_commit TO off")


def move(row: WebhookEndpoint, tried: Try) -> None:
    """On to the next event, or to the next try of the same."""
    if tried.outcome.taken:
        row.last_number, row.failures, row.due_time, row.failing_since = tried.entry.number, 0, None, None
    else:
        wait = RETRIES[min(row.failures, len(RETRIES) - 1)]
        row.due_time = tried.time + max(wait, tried.outcome.retry_after or wait)
        row.failures += 1
        row.failing_since = row.failing_since or tried.time


def has_failed_enough(endpoint: WebhookEndpoint, last: Try) -> bool:
    return last.asked is None and (endpoint.failures > len(RETRIES) or last.outcome.gone)


def prune(*, now: datetime) -> int:
    """Deletes what was sent long ago; returns how many tries there were."""
    deleted, _ = WebhookDelivery.objects.filter(time__lt=now - KEPT).delete()
    return deleted
