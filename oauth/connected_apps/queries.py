"""List the connected apps of companies."""

from typing import Any

from oauth.models import ConsentGrant, ConsentGrantQuerySet
from oauth.protocol import scopes


def list_connected_apps(consents: ConsentGrantQuerySet) -> list[ConsentGrant]:
    """List connected apps, latest first: one for each app, user and company, however often it was approved.

    Each is the latest consent with the scopes and last use of all valid ones.
    """
    connections_by_key: dict[tuple[Any, ...], ConsentGrant] = {}
    for consent in consents.connected():
        latest = connections_by_key.setdefault((consent.company_id, consent.application_id, consent.user_id), consent)
        latest.scopes = scopes.sort_scopes([*latest.scopes, *consent.scopes])
        latest.last_used_time = max(filter(None, (latest.last_used_time, consent.last_used_time)), default=None)
    return list(connections_by_key.values())
