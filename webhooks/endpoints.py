"""Endpoints of a company: added, changed, given another secret, tested, deleted; and given up."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from companies.changing import Change, changing
from companies.errors import Conflict, Missing
from companies.models import AuditEntry, Company, LogMonth, Stamp, id_from
from notifications import telling
from webhooks import signing
from webhooks.models import WebhookDelivery, WebhookEndpoint

MOST = 20  # of a company
MOST_ASKED = 20  # tests and repetitions of an endpoint that wait
TESTED = "webhookEndpoint.tested"  # an event for the tested endpoint alone


class TooManyEndpoints(Conflict):
    """A company has at most 20 webhook endpoints."""

    code = "too_many_webhook_endpoints"


class TooManyAsked(Conflict):
    """Too many tests and repetitions wait for this endpoint: wait until they were sent."""

    code = "too_many_deliveries_waiting"


@dataclass(frozen=True, slots=True)
class Shown:
    """An endpoint and its secret, which is never seen again."""

    endpoint: WebhookEndpoint
    secret: str


def add(*, company: Company, stamp: Stamp, values: dict[str, Any]) -> Shown:
    """An endpoint that is told of what happens from now on. Raises TooManyEndpoints."""
    with changing(company, stamp=stamp) as change:
        if WebhookEndpoint.objects.of(company.id).count() >= MOST:
            raise TooManyEndpoints
        endpoint = change.store(WebhookEndpoint(company=company, **values))
        change.record(endpoint, "webhookEndpoint.created", after=said(endpoint))
        # After that entry, whose transaction has the log's turn: what comes later has a higher number.
        endpoint.last_number = LogMonth.objects.of(company.id).newest_number()
        endpoint.save(update_fields=["last_number"])
    return Shown(endpoint=endpoint, secret=signing.secret(endpoint))


def said(endpoint: WebhookEndpoint) -> dict[str, Any]:
    """What the log keeps of one."""
    return {name: getattr(endpoint, name) for name in ("url", "types", "enabled", "description")}


def change_endpoint(*, company: Company, stamp: Stamp, endpoint_id: UUID | str, values: dict[str, Any]) -> Any:
    """Stores the values that differ. One that is enabled, or moved, is tried again at once. Raises Missing, Stale."""
    with changing(company, stamp=stamp) as change:
        endpoint = change.locked(WebhookEndpoint, endpoint_id)
        moved = endpoint.url != values.get("url", endpoint.url)
        enabled = values.get("enabled", endpoint.enabled) and not endpoint.enabled
        change.update(endpoint, "webhookEndpoint.updated", **values)
        if moved or enabled:
            endpoint.failures, endpoint.due_time, endpoint.failing_since = 0, None, None
            endpoint.save(update_fields=["failures", "due_time", "failing_since"])
    return endpoint


def roll_secret(*, company: Company, stamp: Stamp, endpoint_id: UUID | str) -> Shown:
    """Another secret; for a day the old one signs too. Raises Missing, Stale."""
    with changing(company, stamp=stamp) as change:
        endpoint = change.locked(WebhookEndpoint, endpoint_id)
        endpoint.old_salt, endpoint.old_salt_until = endpoint.salt, stamp.time + signing.BOTH_SIGN
        endpoint.salt = signing.new_salt()
        endpoint.save(update_fields=["salt", "old_salt", "old_salt_until"])
        endpoint.touch(stamp)
        change.record(endpoint, "webhookEndpoint.secretRolled")
    return Shown(endpoint=endpoint, secret=signing.secret(endpoint))


def delete(*, company: Company, stamp: Stamp, endpoint_id: UUID | str) -> WebhookEndpoint:
    """Deletes an endpoint with its deliveries; what it was not told yet it is never told. Raises Missing, Stale."""
    with changing(company, stamp=stamp) as change:
        endpoint = change.locked(WebhookEndpoint, endpoint_id)
        change.delete(endpoint, "webhookEndpoint.deleted", before=said(endpoint))
    return endpoint


def test(*, company: Company, stamp: Stamp, endpoint_id: UUID | str) -> WebhookDelivery:
    """An event for this endpoint alone, whatever its types, enabled or not. Raises Missing, TooManyAsked."""
    with changing(company, stamp=stamp) as change:
        endpoint = change.locked(WebhookEndpoint, endpoint_id, versioned=False)
        return ask(change, endpoint, change.record(endpoint, TESTED))


def redeliver(*, company: Company, stamp: Stamp, endpoint_id: UUID | str, delivery_id: UUID | str) -> WebhookDelivery:
    """The event of a delivery once more, enabled or not. Raises Missing, TooManyAsked."""
    with changing(company, stamp=stamp) as change:
        endpoint = change.locked(WebhookEndpoint, endpoint_id, versioned=False)
        wanted = delivery_id if isinstance(delivery_id, UUID) else id_from(delivery_id)
        rows = WebhookDelivery.objects.of(company.id).filter(endpoint=endpoint, id=wanted) if wanted else None
        delivery = rows.first() if rows is not None else None
        if delivery is None:
            raise Missing
        entry = AuditEntry.objects.of(company.id).found(delivery.event_id)
        if entry is None:  # its month was taken out of the log
            raise Missing
        change.record(endpoint, "webhookEndpoint.redelivered", after={"event_id": entry.id, "type": entry.action})
        return ask(change, endpoint, entry)


def ask(change: Change, endpoint: WebhookEndpoint, entry: AuditEntry) -> WebhookDelivery:
    if WebhookDelivery.objects.of(endpoint.company_id).filter(endpoint=endpoint).asked().count() >= MOST_ASKED:
        raise TooManyAsked
    delivery = WebhookDelivery(company=change.company, endpoint=endpoint, event_id=entry.id, type=entry.action)
    delivery.asked_time = change.stamp.time
    delivery.save(force_insert=True)
    return delivery


def give_up(*, company_id: UUID, endpoint_id: UUID, now: datetime) -> None:
    """Disables one that did not answer for too long, and tells the owners; nothing where somebody changed it since."""
    company = Company.objects.get(id=company_id)
    stamp = Stamp(time=now)
    with changing(company, stamp=stamp) as change:
        endpoint = change.locked_or_none(WebhookEndpoint, endpoint_id)
        if endpoint is None or not endpoint.enabled or endpoint.failing_since is None:
            return
        change.update(endpoint, "webhookEndpoint.disabled", enabled=False)
        telling.webhook_disabled(endpoint=endpoint, stamp=stamp)
