"""Webhooks as they come: signed by Standard Webhooks, symmetric (v1)."""

import base64
import hashlib
import hmac
import json
import time
from collections.abc import Mapping
from typing import Any

TOLERANCE = 300  # seconds: what was signed longer ago may be a repetition by somebody else


class Forged(Exception):
    """The message was not signed with the secret, or not just now."""


def verify(secret: str, body: bytes | str, headers: Mapping[str, str], *, now: float | None = None) -> dict[str, Any]:
    """The event, of the raw body. Raises Forged. ``headers`` may be written in any case."""
    known = {name.lower(): value for name, value in headers.items()}
    raw = body.encode() if isinstance(body, str) else body
    try:
        message, moment, signatures = (known[f"webhook-{name}"] for name in ("id", "timestamp", "signature"))
        age = abs((time.time() if now is None else now) - int(moment))
        key = base64.b64decode(secret.removeprefix("whsec_"), validate=True)
    except (KeyError, ValueError):
        raise Forged("The headers or the secret are not those of a webhook.") from None
    if age > TOLERANCE:
        raise Forged("It was signed too long ago, or this clock is wrong.")
    ours = base64.b64encode(hmac.digest(key, f"{message}.{moment}.".encode() + raw, hashlib.sha256))
    given = [each.encode() for each in signatures.split() if each.startswith("v1,")]
    if not any(hmac.compare_digest(b"v1," + ours, each) for each in given):
        raise Forged("It was not signed with this secret.")
    event: dict[str, Any] = json.loads(raw)
    return event
