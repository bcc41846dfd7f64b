"""Rate limit of e-mails to one address that anyone can trigger."""

from datetime import datetime

from companies import email_addresses
from companies.auth import throttling

MAX_EMAILS_PER_HOUR, HOUR_SECONDS = 5, 3600


def consume_email_limit(address: str, *, now: datetime) -> bool:
    """Count one e-mail to an address and return whether it may be sent.

    Invitations, password resets and e-mail changes are counted together, whoever requested them. Callers do
    not reveal that nothing was sent: it would tell one user about another.
    """
    name = f"letters:{email_addresses.to_canonical_email(address)}"
    budget = throttling.consume_budget(
        name, now=now.timestamp(), limit=MAX_EMAILS_PER_HOUR, seconds=HOUR_SECONDS, exact=True
    )
    return not budget.is_exceeded
