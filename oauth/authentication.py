"""The way in for apps: a signed access token, and behind it a consent that is asked anew at every request."""

import uuid
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.utils import timezone
from rest_framework.authentication import BaseAuthentication
from rest_framework.exceptions import AuthenticationFailed

from companies.callers import api_keys
from companies.callers.access import Access, access_in
from companies.callers.authentication import bearer_token, challenge
from companies.callers.credentials import COMPANY_COLUMNS, company_of, first_row, known_cached
from companies.permissions import Permissions, membership_permissions
from oauth import consents
from oauth.permissions import effective
from oauth.wire import scopes, tokens

ROLE = "app"
_LIVE = (
    "SELECT g.user_id, g.permissions, g.last_used_time, m.role, m.permissions, a.allowed_scopes, "  # noqa: S608 - all ours
    f"u.second_factor_since, {COMPANY_COLUMNS} "
    "FROM oauth_consentgrant g "
    "JOIN companies_user u ON u.id = g.user_id AND u.is_active "
    "JOIN oauth_application a ON a.id = g.application_id AND a.enabled "
    "JOIN companies_membership m ON m.company_id = g.company_id AND m.user_id = g.user_id "
    "JOIN companies_company c ON c.id = g.company_id "
    "WHERE g.id = %s AND g.revoked_time IS NULL AND g.user_id = %s AND g.company_id = %s AND a.client_id = %s"
)


@dataclass(frozen=True, slots=True)
class AppCredential:
    """The caller behind an access token: one company, and what the app may do there now."""

    grant_id: uuid.UUID
    user_id: uuid.UUID
    scopes: tuple[str, ...]
    granted: Access
    stale: bool  # its last use was noted more than a minute ago
    kind: str = "oauth"
    is_authenticated: bool = True

    @property
    def key(self) -> str:
        return f"oauth:{self.grant_id}"

    @property
    def actor(self) -> str:
        return str(self.user_id)

    @property
    def reaches_data(self) -> bool:
        """Whether it may ask for more than who the user is."""
        return scopes.reaches_data(self.scopes)

    def access(self, company_id: str) -> Access | None:
        return self.granted if company_id.lower() == str(self.granted.company.id) else None

    def accesses(self) -> list[Access]:
        return [self.granted]

    def note_use(self, now: datetime) -> None:
        if self.stale:
            consents.note_use(self.grant_id, now=now)


def authenticate(text: str, *, now: datetime) -> AppCredential | None:
    """The caller of a live token, or None. The signature is checked here; then one query asks whether the consent, the
    user, the app and the membership still stand, and brings the company along.
    """
    claims = tokens.read_access_token(text, now=now)
    if claims is None:
        return None
    row = first_row(_LIVE, [claims.grant_id, claims.sub, claims.company_id, claims.client_id])
    if row is None:
        return None
    user_id, snapshot, used, role, own, allowed, factor_since, *columns = row
    still_allowed = tuple(scope for scope in claims.scope.split() if scope in allowed)  # staff may have withdrawn one
    permissions = effective(
        scopes=still_allowed, snapshot=known_cached(tuple(snapshot)), current=current_permissions(role, own)
    )
    return AppCredential(
        grant_id=claims.grant_id,
        user_id=user_id,
        scopes=still_allowed,
        granted=access_in(company_of(columns), role=ROLE, permissions=permissions, factor_since=factor_since),
        stale=used is None or used < now - consents.USED_EVERY,
    )


def current_permissions(role: str, own: list[str] | None) -> Permissions:
    """What the membership gives now."""
    return membership_permissions(role=role, explicit=None) if own is None else known_cached(tuple(own))


class JwtAuthentication(BaseAuthentication):
    """Any Bearer that is no API key must be an access token; one that fails never falls through to the cookie."""

    def authenticate(self, request: Any) -> tuple[Any, Any] | None:
        token = bearer_token(request)
        if token is None or token.startswith(api_keys.PREFIX):
            return None
        credential = authenticate(token, now=timezone.now())
        if credential is None:
            raise AuthenticationFailed("The access token is invalid, expired or revoked.")
        return credential, token

    def authenticate_header(self, request: Any) -> str:
        return challenge("invalid_token" if "HTTP_AUTHORIZATION" in request.META else None)
