"""Secrets of endpoints, and signatures by them: Standard Webhooks, symmetric (v1).

No secret is stored. Each is derived from the server's pepper and a salt of the endpoint, so that a copy of the database
signs nothing, as it opens nothing with the digests of API keys.
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

PREFIX = "whsec_"
BOTH_SIGN = timedelta(days=1)  # after a secret was rolled, for swapping it without a pause


def new_salt() -> bytes:
    return secrets.token_bytes(16)


def secret_of(endpoint_id: UUID, salt: bytes) -> str:
    """The text of a secret: 256 bits in base64."""
    derived = hmac.digest(settings.API_KEY_PEPPER.encode(), b"webhook:" + endpoint_id.bytes + salt, hashlib.sha256)
    return PREFIX + base64.b64encode(derived).decode()


def secret(endpoint: Any) -> str:
    return secret_of(endpoint.id, bytes(endpoint.salt))


def signed(endpoint: Any, *, message_id: str, body: bytes, now: datetime) -> dict[str, str]:
    """The headers that say what is sent, when and by whom; while an old secret is swapped, both have signed."""
    salts = [endpoint.salt]
    if endpoint.old_salt is not None and now < endpoint.old_salt_until:
        salts.append(endpoint.old_salt)
    hooks = [Webhook(secret_of(endpoint.id, bytes(salt))) for salt in salts]
    return {
        "webhook-id": message_id,
        "webhook-timestamp": str(int(now.timestamp())),
        "webhook-signature": " ".join(hook.sign(message_id, now, body.decode()) for hook in hooks),
    }
