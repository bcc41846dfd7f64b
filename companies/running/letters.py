"""How many letters an address gets that anybody can have sent there by naming it."""

from datetime import datetime

from companies import emails
from companies.api import throttling

MAX_AN_HOUR, HOUR_SECONDS = 5, 3600


def may_send(address: str, *, now: datetime) -> bool:
    """Count one more letter to an address and return whether it is still to be sent.

    Invitations, links for new passwords and for changed addresses are counted together, whoever asked for them. Nobody
    is told that a letter was not sent: it would tell strangers of each other.
    """
    name = f"letters:{emails.canonical(address)}"
    budget = throttling.spend(name, now=now.timestamp(), limit=MAX_AN_HOUR, seconds=HOUR_SECONDS, exact=True)
    return not budget.exceeded
