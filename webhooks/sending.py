"""One message to one endpoint, and what came back."""

import time
from dataclasses import dataclass
from datetime import datetime
from http import HTTPStatus

import orjson

from companies import outbound
from companies.models import AuditEntry
from companies.serializers import FeedEventShape
from webhooks import signing
from webhooks.models import LONGEST_ANSWER, WebhookEndpoint


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a try: a status, or why there is none."""

    duration_ms: int
    status: int | None = None
    response: str = ""
    error: str = ""

    @property
    def taken(self) -> bool:
        """Whether the receiver has the event."""
        return self.status is not None and 200 <= self.status < 300

    @property
    def gone(self) -> bool:
        """Whether it wants no more, as Standard Webhooks has it say that."""
        return self.status == HTTPStatus.GONE


def message(entry: AuditEntry) -> bytes:
    """An event as the feed gives it."""
    return orjson.dumps(FeedEventShape(entry).data, default=str)


def send(endpoint: WebhookEndpoint, entry: AuditEntry, *, now: datetime) -> Outcome:
    """Calls the endpoint by the guarded way out. It takes some seconds at most and raises nothing."""
    body = message(entry)
    headers = {"Content-Type": "application/json"}
    headers |= signing.signed(endpoint, message_id=str(entry.id), body=body, now=now)
    began = time.monotonic()
    try:
        answer = outbound.fetch(endpoint.url, method="POST", headers=headers, body=body)
    except outbound.Refused as refused:
        return Outcome(duration_ms=since(began), error=str(refused)[:200])
    shown = answer.body[:LONGEST_ANSWER].decode(errors="replace").replace("\0", "\ufffd")
    return Outcome(duration_ms=since(began), status=answer.status, response=shown)


def since(began: float) -> int:
    return round((time.monotonic() - began) * 1000)
