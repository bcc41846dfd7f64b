"""DRF authentication classes for API keys and sessions. An invalid Authorization header never falls back to
the session.

Access tokens of apps are handled by ``oauth.authentication``, between the two.
"""

import re
import uuid
from copy import copy
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.conf import settings
from django.http import QueryDict
from django.utils import timezone
from rest_framework.authentication import BaseAuthentication
from rest_framework.authentication import SessionAuthentication as DjangoSession
from rest_framework.exceptions import AuthenticationFailed

from companies.auth import api_keys
from companies.auth.access import Access, build_access
from companies.errors import InvalidInputError
from companies.models import Membership, User, parse_id

SECOND_BEARER_PATTERN = re.compile(r",\s*bearer\s", re.IGNORECASE)  # how the server joins repeated headers
FORM_CONTENT_TYPE, MAX_PARSED_FORM_BYTES = "application/x-www-form-urlencoded", 64 * 1024
CHALLENGE_SCOPES = "svc:read svc:write offline_access"


def build_challenge_header(error: str | None = None, *, scope: str | None = CHALLENGE_SCOPES, path: str = "") -> str:
    """Build the WWW-Authenticate header (RFC 6750, with the resource metadata of RFC 9728).

    `scope` is left out where no scope would help. `path` is that of a resource with its own metadata, such
    as ``/mcp``.
    """
    metadata = f"{settings.BASE_URL}/.well-known/oauth-protected-resource{path}"
    value = f'Bearer realm="api", resource_metadata="{metadata}"'
    if scope:
        value += f', scope="{scope}"'
    return f'{value}, error="{error}"' if error else value


class InvalidRequest(InvalidInputError):
    """Send the token once, in the Authorization header only."""

    code = "invalid_request"

    @property
    def headers(self) -> dict[str, str]:
        return {"WWW-Authenticate": build_challenge_header("invalid_request")}


def refuse_second_token(request: Any, header: str) -> None:
    """Raise InvalidRequest if the request carries a second token, in any way RFC 6750 allows."""
    django_request = getattr(request, "_request", request)  # DRF's request would parse the body by its media type
    if SECOND_BEARER_PATTERN.search(header) or "access_token" in django_request.GET:
        raise InvalidRequest
    is_small = (
        int(django_request.META.get("CONTENT_LENGTH") or 0) <= MAX_PARSED_FORM_BYTES
    )  # larger forms are read nowhere
    if (
        django_request.content_type == FORM_CONTENT_TYPE
        and is_small
        and "access_token" in QueryDict(django_request.body)
    ):  # request.POST: only of POST
        raise InvalidRequest


def parse_bearer_token(request: Any) -> str | None:
    """Return the token of the Authorization header; None without a header.

    Raises:
        AuthenticationFailed: another scheme, or an empty token.
        InvalidRequest: a second token was sent.
    """
    header = request.META.get("HTTP_AUTHORIZATION")
    if header is None:
        return None
    refuse_second_token(request, header)
    scheme, _, token = header.partition(" ")
    if scheme.lower() != "bearer" or not token.strip():
        raise AuthenticationFailed("The Authorization header must be: Bearer <API key or access token>.")
    return token.strip()


def get_addressed_company_id(request: Any) -> uuid.UUID | None:
    """Return the company id in the request's path, whether or not the caller can reach it; None if there is none."""
    match = request.resolver_match
    return parse_id(match.kwargs.get("company_id", "")) if match else None


class ApiKeyAuthentication(BaseAuthentication):
    def authenticate(self, request: Any) -> tuple[Any, Any] | None:
        token = parse_bearer_token(request)
        if token is None or not token.startswith(api_keys.API_KEY_PREFIX):
            return None
        credential = api_keys.authenticate_api_key(
            token, now=timezone.now(), company_id=get_addressed_company_id(request)
        )
        if credential is None:
            raise AuthenticationFailed("The API key is invalid, expired or revoked.")
        return credential, token

    def authenticate_header(self, request: Any) -> str:
        return build_challenge_header("invalid_token" if "HTTP_AUTHORIZATION" in request.META else None)


@dataclass(frozen=True, slots=True)
class SessionCredential:
    """The credential of a signed-in user. Memberships are read when needed."""

    user: User
    kind: str = "session"
    is_authenticated: bool = True
    reaches_data: bool = True

    @property
    def key(self) -> str:
        return f"session:{self.user.id}"

    @property
    def actor(self) -> str:
        return str(self.user.id)

    @property
    def user_id(self) -> uuid.UUID:
        return self.user.id

    def access(self, company_id: str) -> Access | None:
        company_uuid = parse_id(company_id)
        if company_uuid is None:
            return None
        membership = (
            Membership.objects.for_company(company_uuid).select_related("company").filter(user=self.user).first()
        )
        return build_member_access(membership, self.user) if membership else None

    def accesses(self) -> list[Access]:
        memberships = Membership.objects.for_user(self.user.id).select_related("company")
        return [build_member_access(m, self.user) for m in memberships.order_by("company__name", "company_id")]

    def record_use(self, now: datetime) -> None:
        """Do nothing: the session itself stores when it was last used (companies.auth.sessions)."""


def build_member_access(membership: Membership, user: User) -> Access:
    """Build a member's access to the company of the membership."""
    return build_access(
        membership.company,
        role=membership.role,
        permissions=membership.effective_permissions,
        factor_since=user.second_factor_since,
    )


class SessionAuthentication(DjangoSession):
    """Django's session authentication with CSRF check, used only if no Authorization header was sent."""

    def authenticate(self, request: Any) -> tuple[Any, Any] | None:
        if parse_bearer_token(request) is not None:
            raise AuthenticationFailed("The token is not valid for this API.")
        user_and_auth = super().authenticate(request)
        return (SessionCredential(user=user_and_auth[0]), None) if user_and_auth else None

    def enforce_csrf(self, request: Any) -> None:
        """Accept the CSRF token from the header only. Looking for it in a form would read the request body."""
        request_without_body = copy(request._request)
        request_without_body.POST = QueryDict()
        super().enforce_csrf(request_without_body)
