"""Secrets of endpoints, and signatures of their messages: Standard Webhooks, symmetric (v1).

No secret is stored. Each is derived from the server's pepper and the endpoint's salt, so that a copy of the
database can sign nothing.
"""

import base64
import hashlib
import hmac
import secrets
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.conf import settings
from standardwebhooks.webhooks import Webhook

SECRET_PREFIX = "whsec_"  # noqa: S105 - the standard's prefix of secrets
OLD_SECRET_VALIDITY = timedelta(days=1)  # after a roll, so that the receiver can switch without downtime


def new_salt() -> bytes:
    return secrets.token_bytes(16)


def derive_secret(endpoint_id: UUID, salt: bytes) -> str:
    """Derive the text of a secret: 256 bits in base64."""
    derived = hmac.digest(settings.API_KEY_PEPPER.encode(), b"webhook:" + endpoint_id.bytes + salt, hashlib.sha256)
    return SECRET_PREFIX + base64.b64encode(derived).decode()


def get_endpoint_secret(endpoint: Any) -> str:
    return derive_secret(endpoint.id, bytes(endpoint.salt))


def build_signature_headers(endpoint: Any, *, message_id: str, body: bytes, now: datetime) -> dict[str, str]:
    """Build the signature headers of a message; while the old secret is valid, both sign."""
    salts = [endpoint.salt]
    if endpoint.old_salt is not None and now < endpoint.old_salt_until:
        salts.append(endpoint.old_salt)
    hooks = [Webhook(derive_secret(endpoint.id, bytes(salt))) for salt in salts]
    return {
        "webhook-id": message_id,
        "webhook-timestamp": str(int(now.timestamp())),
        "webhook-signature": " ".join(hook.sign(message_id, now, body.decode()) for hook in hooks),
    }
