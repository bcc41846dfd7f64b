"""Create, update, test and delete webhook endpoints, roll their secrets, redeliver events, disable failing
ones.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from companies.change import CompanyChange, change_company
from companies.errors import ConflictError, NotFoundError
from companies.models import AuditContext, AuditEntry, Company, parse_id
from companies.sandboxes import refuse_in_sandbox
from notifications import notify
from webhooks import signing
from webhooks.models import WebhookDelivery, WebhookEndpoint

MAX_ENDPOINTS = 20  # of a company
MAX_WAITING_DELIVERIES = 20  # waiting tests and redeliveries of an endpoint
TEST_EVENT_TYPE = "webhookEndpoint.tested"  # sent to the tested endpoint only


class TooManyWebhookEndpoints(ConflictError):
    """A company can have up to 20 webhook endpoints. Delete one to add another."""

    code = "too_many_webhook_endpoints"


class TooManyDeliveriesWaiting(ConflictError):
    """Too many pending test events and resends for this endpoint. Wait until they are sent."""

    code = "too_many_deliveries_waiting"


@dataclass(frozen=True, slots=True)
class EndpointWithSecret:
    """An endpoint with its secret, which is shown only now."""

    endpoint: WebhookEndpoint
    secret: str


def create_webhook_endpoint(*, company: Company, context: AuditContext, values: dict[str, Any]) -> EndpointWithSecret:
    """Create an endpoint that gets all events from now on.

    Raises:
        TooManyWebhookEndpoints: the company has the maximum.
        NotInSandbox.
    """
    refuse_in_sandbox(company)
    with change_company(company, context=context) as change:
        if WebhookEndpoint.objects.for_company(company.id).count() >= MAX_ENDPOINTS:
            raise TooManyWebhookEndpoints
        endpoint = change.insert(WebhookEndpoint(company=company, **values))
        change.record(endpoint, "webhookEndpoint.created", after=build_endpoint_log_values(endpoint))
        # After that entry, whose transaction holds the log's lock: later entries have higher numbers.
        endpoint.last_number = AuditEntry.objects.for_company(company.id).get_newest_number()
        endpoint.save(update_fields=["last_number"])
    return EndpointWithSecret(endpoint=endpoint, secret=signing.get_endpoint_secret(endpoint))


def build_endpoint_log_values(endpoint: WebhookEndpoint) -> dict[str, Any]:
    """Return the values of an endpoint for the audit log."""
    return {name: getattr(endpoint, name) for name in ("url", "types", "enabled", "description")}


def update_webhook_endpoint(
    *, company: Company, context: AuditContext, endpoint_id: UUID | str, values: dict[str, Any]
) -> Any:
    """Update an endpoint; one that is enabled or has a new URL is tried again at once.

    Raises:
        NotFoundError, PreconditionFailed: it is gone or has another version.
    """
    with change_company(company, context=context) as change:
        endpoint = change.lock(WebhookEndpoint, endpoint_id)
        is_url_changed = endpoint.url != values.get("url", endpoint.url)
        is_reenabled = values.get("enabled", endpoint.enabled) and not endpoint.enabled
        change.update(endpoint, "webhookEndpoint.updated", **values)
        if is_url_changed or is_reenabled:
            endpoint.failures, endpoint.due_time, endpoint.failing_since = 0, None, None
            endpoint.save(update_fields=["failures", "due_time", "failing_since"])
    return endpoint


def roll_webhook_secret(*, company: Company, context: AuditContext, endpoint_id: UUID | str) -> EndpointWithSecret:
    """Replace the secret; for a day the old one signs too.

    Raises:
        NotFoundError, PreconditionFailed: the endpoint is gone or has another version.
    """
    with change_company(company, context=context) as change:
        endpoint = change.lock(WebhookEndpoint, endpoint_id)
        endpoint.old_salt, endpoint.old_salt_until = endpoint.salt, context.time + signing.OLD_SECRET_VALIDITY
        endpoint.salt = signing.new_salt()
        endpoint.save(update_fields=["salt", "old_salt", "old_salt_until"])
        endpoint.mark_updated(context)
        change.record(endpoint, "webhookEndpoint.secretRolled")
    return EndpointWithSecret(endpoint=endpoint, secret=signing.get_endpoint_secret(endpoint))


def delete_webhook_endpoint(*, company: Company, context: AuditContext, endpoint_id: UUID | str) -> WebhookEndpoint:
    """Delete an endpoint with its deliveries; events not delivered yet are lost to it.

    Raises:
        NotFoundError, PreconditionFailed: it is gone or has another version.
    """
    with change_company(company, context=context) as change:
        endpoint = change.lock(WebhookEndpoint, endpoint_id)
        change.delete(endpoint, "webhookEndpoint.deleted", before=build_endpoint_log_values(endpoint))
    return endpoint


def request_test_delivery(*, company: Company, context: AuditContext, endpoint_id: UUID | str) -> WebhookDelivery:
    """Request a test event for this endpoint alone, whatever its types, enabled or not.

    Raises:
        NotFoundError: the endpoint is gone.
        TooManyDeliveriesWaiting: too many requests wait.
    """
    with change_company(company, context=context) as change:
        endpoint = change.lock(WebhookEndpoint, endpoint_id, check_versions=False)
        return create_requested_delivery(change, endpoint, change.record(endpoint, TEST_EVENT_TYPE))


def request_redelivery(
    *, company: Company, context: AuditContext, endpoint_id: UUID | str, delivery_id: UUID | str
) -> WebhookDelivery:
    """Request the event of a delivery once more, whether the endpoint is enabled or not.

    Raises:
        NotFoundError: the delivery or its event is gone.
        TooManyDeliveriesWaiting: too many requests wait.
    """
    with change_company(company, context=context) as change:
        endpoint = change.lock(WebhookEndpoint, endpoint_id, check_versions=False)
        parsed_id = delivery_id if isinstance(delivery_id, UUID) else parse_id(delivery_id)
        rows = (
            WebhookDelivery.objects.for_company(company.id).filter(endpoint=endpoint, id=parsed_id)
            if parsed_id
            else None
        )
        delivery = rows.first() if rows is not None else None
        if delivery is None:
            raise NotFoundError
        entry = AuditEntry.objects.for_company(company.id).filter(id=delivery.event_id).first()
        if entry is None:  # its month was removed from the log
            raise NotFoundError
        change.record(endpoint, "webhookEndpoint.redelivered", after={"event_id": entry.id, "type": entry.action})
        return create_requested_delivery(change, endpoint, entry)


def create_requested_delivery(change: CompanyChange, endpoint: WebhookEndpoint, entry: AuditEntry) -> WebhookDelivery:
    if (
        WebhookDelivery.objects.for_company(endpoint.company_id).filter(endpoint=endpoint).requested().count()
        >= MAX_WAITING_DELIVERIES
    ):
        raise TooManyDeliveriesWaiting
    delivery = WebhookDelivery(company=change.company, endpoint=endpoint, event_id=entry.id, type=entry.action)
    delivery.asked_time = change.context.time
    delivery.save(force_insert=True)
    return delivery


def disable_failing_endpoint(*, company_id: UUID, endpoint_id: UUID, now: datetime) -> None:
    """Disable an endpoint that failed for too long and notify the owners; nothing if it was changed since."""
    company = Company.objects.get(id=company_id)
    context = AuditContext(time=now)
    with change_company(company, context=context) as change:
        endpoint = change.lock_or_none(WebhookEndpoint, endpoint_id)
        if endpoint is None or not endpoint.enabled or endpoint.failing_since is None:
            return
        change.update(endpoint, "webhookEndpoint.disabled", enabled=False)
        notify.notify_webhook_disabled(endpoint=endpoint, context=context)
