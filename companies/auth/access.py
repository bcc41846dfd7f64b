"""Access of a credential to a company: role and permissions, the same for every kind of credential."""

import uuid
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from companies.errors import PermissionDeniedError
from companies.models import Company
from companies.permissions import Permissions


@dataclass(frozen=True, slots=True)
class Access:
    """What a credential may do in one company."""

    company: Company
    role: str
    permissions: Permissions  # empty while MFA is missing
    needs_mfa_setup: bool = False  # MFA is required by the company and missing
    expires_time: datetime | None = None  # of an API key; None for others and for keys without expiry


class SecondFactorRequired(PermissionDeniedError):
    """This company requires two-factor authentication. Set it up under Security."""

    code = "second_factor_required"


def build_access(company: Company, *, role: str, permissions: Permissions, factor_since: datetime | None) -> Access:
    """Build the access of a user, or of an app acting for one: no permissions if the company requires MFA and
    the user has none.

    `factor_since` is when the user set up their first second factor; None without one.
    """
    if company.require_second_factor and factor_since is None:
        return Access(company=company, role=role, permissions=frozenset(), needs_mfa_setup=True)
    return Access(company=company, role=role, permissions=permissions)


class Credential(Protocol):
    """Interface of every credential (API key, access token, session). Views never need to know which one was
    used.
    """

    kind: str  # apiKey, oauth or session
    key: str  # identifies the credential in rate limits, idempotency records and the audit log
    actor: str  # goes into createdUserId and lastUpdatedUserId
    user_id: uuid.UUID | None  # the user; None for an API key
    is_authenticated: bool
    has_data_access: bool  # False for an access token with identity scopes only

    def access(self, company_id: str) -> Access | None:
        """Return the credential's access to a company; None if it cannot reach the company."""

    def accesses(self) -> list[Access]:
        """Return the access to every company the credential can reach, ordered by company name."""

    def record_use(self, now: datetime) -> None:
        """Store when the credential was last used. Called after every response."""
