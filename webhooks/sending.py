"""One message to one endpoint, and what came back."""

import re
import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from email.utils import parsedate_to_datetime
from http import HTTPStatus

import orjson

from companies import outbound
from companies.models import AuditEntry
from companies.serializers import FeedEventShape
from webhooks import signing
from webhooks.models import LONGEST_ANSWER, WebhookEndpoint

LONGEST_RETRY_AFTER = timedelta(hours=1)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a try: a status, or why there is none."""

    duration_ms: int
    status: int | None = None
    response: str = ""
    error: str = ""
    retry_after: timedelta | None = None  # as the receiver asked, an hour at most

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


def send(endpoint: WebhookEndpoint, entry: AuditEntry, *, now: datetime) -> Outcome | None:
    """Call the endpoint by the guarded way out; it takes some seconds at most and raises nothing.

    Returns: what came of it; None where nothing was tried, because too many names are being looked up.
    """
    body = message(entry)
    headers = {"Content-Type": "application/json"}
    headers |= signing.signed(endpoint, message_id=str(entry.id), body=body, now=now)
    began = time.monotonic()
    try:
        answer = outbound.fetch(endpoint.url, method="POST", headers=headers, body=body)
    except outbound.NoCapacity:
        return None
    except outbound.Refused as refused:
        return Outcome(duration_ms=since(began), error=str(refused)[:200])
    shown = answer.body[:LONGEST_ANSWER].decode(errors="replace").replace("\0", "\ufffd")
    retry_after = parse_retry_after(answer.headers, now=now)
    return Outcome(duration_ms=since(began), status=answer.status, response=shown, retry_after=retry_after)


def parse_retry_after(headers: Mapping[str, str], *, now: datetime) -> timedelta | None:
    """Return how long the receiver asks to wait, in seconds or until a day (RFC 9110, 10.2.3), an hour at most."""
    text = next((value.strip() for name, value in headers.items() if name.lower() == "retry-after"), "")
    if re.fullmatch(r"[0-9]{1,9}", text):
        return min(timedelta(seconds=int(text)), LONGEST_RETRY_AFTER)
    try:
        wanted = parsedate_to_datetime(text)
    except ValueError:
        return None
    if wanted.tzinfo is None:
        return None
    return min(max(wanted - now, timedelta()), LONGEST_RETRY_AFTER)


def since(began: float) -> int:
    return round((time.monotonic() - began) * 1000)
