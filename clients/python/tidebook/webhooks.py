"""Verification of webhooks: Standard Webhooks, symmetric (v1)."""

import base64
import hashlib
import hmac
import json
import time
from collections.abc import Mapping
from typing import Any

TOLERANCE_SECONDS = 300  # older signatures may be replays


class InvalidSignature(Exception):
    """The message was not signed with the secret, or too long ago."""


def verify(secret: str, body: bytes | str, headers: Mapping[str, str], *, now: float | None = None) -> dict[str, Any]:
    """Return the event of a raw body.

    Args:
        headers: names in any case.

    Raises:
        InvalidSignature: it is not valid.
    """
    lower_headers = {name.lower(): value for name, value in headers.items()}
    raw = body.encode() if isinstance(body, str) else body
    try:
        message, timestamp, signatures = (lower_headers[f"webhook-{name}"] for name in ("id", "timestamp", "signature"))
        age = abs((time.time() if now is None else now) - int(timestamp))
        key = base64.b64decode(secret.removeprefix("whsec_"), validate=True)
    except (KeyError, ValueError):
        raise InvalidSignature("The headers or the secret are not those of a webhook.") from None
    if age > TOLERANCE_SECONDS:
        raise InvalidSignature("It was signed too long ago, or this clock is wrong.")
    expected_signature = base64.b64encode(hmac.digest(key, f"{message}.{timestamp}.".encode() + raw, hashlib.sha256))
    signatures_given = [each.encode() for each in signatures.split() if each.startswith("v1,")]
    if not any(hmac.compare_digest(b"v1," + expected_signature, each) for each in signatures_given):
        raise InvalidSignature("It was not signed with this secret.")
    event: dict[str, Any] = json.loads(raw)
    return event
