"""Who calls, and what they may do in which company: every credential answers the same questions."""

import uuid
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from companies.models import Company
from companies.permissions import Permissions


@dataclass(frozen=True, slots=True)
class Access:
    """What a caller may do in one company."""

    company: Company
    role: str
    permissions: Permissions


class Credential(Protocol):
    """What every way of signing in answers; the views never learn which one was used."""

    kind: str  # apiKey, oauth or session
    key: str  # names the credential in rate limits, idempotency records and the audit log
    actor: str  # goes into createdUserId and lastUpdatedUserId
    user_id: uuid.UUID | None  # the person behind it; none behind an API key
    is_authenticated: bool

    def access(self, company_id: str) -> Access | None:
        """The caller's access to a company, or None where it cannot be reached."""

    def accesses(self) -> list[Access]:
        """Every company the caller can reach, by name."""

    def note_use(self, now: datetime) -> None:
        """Remembers when the credential was last used; called after every answer."""
