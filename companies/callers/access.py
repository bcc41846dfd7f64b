"""Who calls, and what they may do in which company: every credential answers the same questions."""

import uuid
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from companies.errors import Denied
from companies.models import Company
from companies.permissions import Permissions


@dataclass(frozen=True, slots=True)
class Access:
    """What a caller may do in one company."""

    company: Company
    role: str
    permissions: Permissions  # none while it waits
    waits: bool = False  # until the person behind it sets up a second factor, which the company demands
    expires_time: datetime | None = None  # of an API key; None for everyone else, and for keys without an end


class SecondFactorRequired(Denied):
    """The company demands a second factor of its members: set one up under Security."""

    code = "second_factor_required"


def access_in(company: Company, *, role: str, permissions: Permissions, factor_since: datetime | None) -> Access:
    """What a person, or who acts for one, may do: nothing, where the company demands a factor that they lack."""
    if company.require_second_factor and factor_since is None:
        return Access(company=company, role=role, permissions=frozenset(), waits=True)
    return Access(company=company, role=role, permissions=permissions)


class Credential(Protocol):
    """What every way of signing in answers; the views never learn which one was used."""

    kind: str  # apiKey, oauth or session
    key: str  # names the credential in rate limits, idempotency records and the audit log
    actor: str  # goes into createdUserId and lastUpdatedUserId
    user_id: uuid.UUID | None  # the person behind it; none behind an API key
    is_authenticated: bool
    reaches_data: bool  # False for an access token that tells only who the user is

    def access(self, company_id: str) -> Access | None:
        """The caller's access to a company, or None where it cannot be reached."""

    def accesses(self) -> list[Access]:
        """Every company the caller can reach, by name."""

    def note_use(self, now: datetime) -> None:
        """Remembers when the credential was last used; called after every answer."""
