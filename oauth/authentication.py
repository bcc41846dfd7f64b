"""Authentication of apps: a signed access token, whose consent is checked at every request."""

import uuid
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.utils import timezone
from rest_framework.authentication import BaseAuthentication
from rest_framework.exceptions import AuthenticationFailed

from companies.auth.access import Access, build_access
from companies.auth.authentication import (
    API_KEY_PREFIX,
    COMPANY_COLUMNS,
    build_challenge_header,
    build_company_from_row,
    fetch_first_row,
    parse_bearer_token,
    parse_permissions_cached,
)
from companies.permissions import Permissions, get_membership_permissions
from oauth import consents
from oauth.permissions import compute_effective_permissions
from oauth.protocol import scopes, tokens

APP_ROLE = "app"
_LIVE_CONSENT = (
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
    """The credential of an access token: one company, and what the app may do there now."""

    grant_id: uuid.UUID
    user_id: uuid.UUID
    scopes: tuple[str, ...]
    company_access: Access
    stale: bool  # whether its last use was stored more than a minute ago
    kind: str = "oauth"
    is_authenticated: bool = True

    @property
    def key(self) -> str:
        return f"oauth:{self.grant_id}"

    @property
    def actor(self) -> str:
        return str(self.user_id)

    @property
    def has_data_access(self) -> bool:
        """Whether it may access more than the user's identity."""
        return scopes.has_data_scopes(self.scopes)

    def access(self, company_id: str) -> Access | None:
        return self.company_access if company_id.lower() == str(self.company_access.company.id) else None

    def accesses(self) -> list[Access]:
        return [self.company_access]

    def record_use(self, now: datetime) -> None:
        if self.stale:
            consents.record_consent_use(self.grant_id, now=now)


def authenticate_access_token(text: str, *, now: datetime) -> AppCredential | None:
    """Return the credential of a valid token, or None.

    After the signature, one query checks that consent, user, app and membership are valid, and reads the
    company.
    """
    claims = tokens.read_access_token(text, now=now)
    if claims is None:
        return None
    row = fetch_first_row(_LIVE_CONSENT, [claims.grant_id, claims.sub, claims.company_id, claims.client_id])
    if row is None:
        return None
    user_id, snapshot, last_used_time, role, explicit_permissions, allowed_scopes, factor_since, *columns = row
    still_allowed = tuple(
        scope for scope in claims.scope.split() if scope in allowed_scopes
    )  # staff may have removed one
    permissions = compute_effective_permissions(
        scopes=still_allowed,
        snapshot=parse_permissions_cached(tuple(snapshot)),
        current=get_current_permissions(role, explicit_permissions),
    )
    return AppCredential(
        grant_id=claims.grant_id,
        user_id=user_id,
        scopes=still_allowed,
        company_access=build_access(
            build_company_from_row(columns), role=APP_ROLE, permissions=permissions, factor_since=factor_since
        ),
        stale=last_used_time is None or last_used_time < now - consents.LAST_USED_INTERVAL,
    )


def get_current_permissions(role: str, explicit_permissions: list[str] | None) -> Permissions:
    """Return the permissions of the membership now."""
    return (
        get_membership_permissions(role=role, explicit=None)
        if explicit_permissions is None
        else parse_permissions_cached(tuple(explicit_permissions))
    )


class JwtAuthentication(BaseAuthentication):
    """A Bearer token that is no API key must be an access token; an invalid one never falls back to the cookie."""

    def authenticate(self, request: Any) -> tuple[Any, Any] | None:
        token = parse_bearer_token(request)
        if token is None or token.startswith(API_KEY_PREFIX):
            return None
        credential = authenticate_access_token(token, now=timezone.now())
        if credential is None:
            raise AuthenticationFailed("The access token is invalid, expired or revoked. Request a new one.")
        return credential, token

    def authenticate_header(self, request: Any) -> str:
        return build_challenge_header("invalid_token" if "HTTP_AUTHORIZATION" in request.META else None)
