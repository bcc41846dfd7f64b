"""Send one event to one endpoint, and read the response."""

import re
import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from email.utils import parsedate_to_datetime
from http import HTTPStatus

import orjson

from companies import http_client
from companies.models import AuditEntry
from companies.serializers import FeedEventSerializer
from webhooks import signing
from webhooks.models import MAX_RESPONSE_LENGTH, WebhookEndpoint

MAX_RETRY_AFTER = timedelta(hours=1)


@dataclass(frozen=True, slots=True)
class DeliveryOutcome:
    """The result of an attempt: a status, or why there is none."""

    duration_ms: int
    status: int | None = None
    response: str = ""
    error: str = ""
    retry_after: timedelta | None = None  # requested by the receiver, at most an hour

    @property
    def is_accepted(self) -> bool:
        """Whether the receiver accepted the event."""
        return self.status is not None and 200 <= self.status < 300

    @property
    def is_gone(self) -> bool:
        """Whether the receiver wants no more events, as Standard Webhooks defines it."""
        return self.status == HTTPStatus.GONE


def serialize_event(entry: AuditEntry) -> bytes:
    """Serialize an event as the events feed does."""
    return orjson.dumps(FeedEventSerializer(entry).data, default=str)


def send_event(endpoint: WebhookEndpoint, entry: AuditEntry, *, now: datetime) -> DeliveryOutcome | None:
    """Send an event through the safe outbound client; takes some seconds at most and raises nothing.

    Returns: the outcome; None if nothing was tried, because too many host names are being looked up.
    """
    body = serialize_event(entry)
    headers = {"Content-Type": "application/json"}
    headers |= signing.build_signature_headers(endpoint, message_id=str(entry.id), body=body, now=now)
    started_at = time.monotonic()
    try:
        response = http_client.fetch_url(endpoint.url, method="POST", headers=headers, body=body)
    except http_client.ResolverBusy:
        return None
    except http_client.OutboundError as error:
        return DeliveryOutcome(duration_ms=measure_elapsed_ms(started_at), error=str(error)[:200])
    response_text = response.body[:MAX_RESPONSE_LENGTH].decode(errors="replace").replace("\0", "\ufffd")
    retry_after = parse_retry_after(response.headers, now=now)
    return DeliveryOutcome(
        duration_ms=measure_elapsed_ms(started_at),
        status=response.status,
        response=response_text,
        retry_after=retry_after,
    )


def parse_retry_after(headers: Mapping[str, str], *, now: datetime) -> timedelta | None:
    """Return how long the receiver asks to wait (RFC 9110, 10.2.3), at most an hour; None if it does not."""
    text = next((value.strip() for name, value in headers.items() if name.lower() == "retry-after"), "")
    if re.fullmatch(r"[0-9]{1,9}", text):
        return min(timedelta(seconds=int(text)), MAX_RETRY_AFTER)
    try:
        retry_time = parsedate_to_datetime(text)
    except ValueError:
        return None
    if retry_time.tzinfo is None:
        return None
    return min(max(retry_time - now, timedelta()), MAX_RETRY_AFTER)


def measure_elapsed_ms(started_at: float) -> int:
    return round((time.monotonic() - started_at) * 1000)
