"""The ways in: an API key, or the session of someone who signed in. A header that fails never falls through.

Apps' tokens are recognised in ``oauth.authentication``, between the two.
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

from companies.callers import api_keys
from companies.callers.access import Access, access_in
from companies.errors import Invalid
from companies.models import Membership, User, id_from

SECOND_HEADER = re.compile(r",\s*bearer\s", re.IGNORECASE)  # as the server joins headers that come twice
FORM, LARGEST_FORM = "application/x-www-form-urlencoded", 64 * 1024
SCOPES = "svc:read svc:write offline_access"


def challenge(error: str | None = None, *, scope: str | None = SCOPES, path: str = "") -> str:
    """The WWW-Authenticate value: RFC 6750, and RFC 9728 for where to get a token; no scope where none would help.

    ``path`` is that of a resource with metadata of its own, as ``/mcp``.
    """
    metadata = f"{settings.BASE_URL}/.well-known/oauth-protected-resource{path}"
    value = f'Bearer realm="api", resource_metadata="{metadata}"'
    if scope:
        value += f', scope="{scope}"'
    return f'{value}, error="{error}"' if error else value


class TwoCredentials(Invalid):
    """A token came in more than one way, or more than once; the Authorization header is the only one."""

    code = "invalid_request"

    @property
    def headers(self) -> dict[str, str]:
        return {"WWW-Authenticate": challenge("invalid_request")}


def refuse_second(request: Any, header: str) -> None:
    """Raises TwoCredentials where a token came beside the header's, in any way that RFC 6750 knows."""
    plain = getattr(request, "_request", request)  # the framework's own would parse the body by its media type
    if SECOND_HEADER.search(header) or "access_token" in plain.GET:
        raise TwoCredentials
    small = int(plain.META.get("CONTENT_LENGTH") or 0) <= LARGEST_FORM  # of larger ones nothing is read anywhere
    if plain.content_type == FORM and small and "access_token" in QueryDict(plain.body):  # POST has that of POST alone
        raise TwoCredentials


def bearer_token(request: Any) -> str | None:
    """The token of the Authorization header, or None without a header.

    Raises AuthenticationFailed for any other scheme and for an empty token, TwoCredentials for a second one.
    """
    header = request.META.get("HTTP_AUTHORIZATION")
    if header is None:
        return None
    refuse_second(request, header)
    scheme, _, token = header.partition(" ")
    if scheme.lower() != "bearer" or not token.strip():
        raise AuthenticationFailed("The Authorization header must be: Bearer <API key or access token>.")
    return token.strip()


def addressed(request: Any) -> uuid.UUID | None:
    """The company that the request's address names, whoever may reach it."""
    match = request.resolver_match
    return id_from(match.kwargs.get("company_id", "")) if match else None


class ApiKeyAuthentication(BaseAuthentication):
    def authenticate(self, request: Any) -> tuple[Any, Any] | None:
        token = bearer_token(request)
        if token is None or not token.startswith(api_keys.PREFIX):
            return None
        credential = api_keys.authenticate(token, now=timezone.now(), company_id=addressed(request))
        if credential is None:
            raise AuthenticationFailed("The API key is unknown, wrong, expired or revoked.")
        return credential, token

    def authenticate_header(self, request: Any) -> str:
        return challenge("invalid_token" if "HTTP_AUTHORIZATION" in request.META else None)


@dataclass(frozen=True, slots=True)
class SessionCredential:
    """A person who signed in; their memberships are read when they are needed."""

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
        wanted = id_from(company_id)
        if wanted is None:
            return None
        membership = Membership.objects.of(wanted).select_related("company").filter(user=self.user).first()
        return access_of(membership, self.user) if membership else None

    def accesses(self) -> list[Access]:
        memberships = Membership.objects.of_person(self.user.id).select_related("company")
        return [access_of(m, self.user) for m in memberships.order_by("company__name", "company_id")]

    def note_use(self, now: datetime) -> None:
        """A session's own record says when it was last seen (companies.callers.sessions)."""


def access_of(membership: Membership, holder: User) -> Access:
    """What a member may do in the company of the membership."""
    return access_in(
        membership.company,
        role=membership.role,
        permissions=membership.effective_permissions,
        factor_since=holder.second_factor_since,
    )


class SessionAuthentication(DjangoSession):
    """The browser's session, with the CSRF token on unsafe calls; only where no Authorization header was sent."""

    def authenticate(self, request: Any) -> tuple[Any, Any] | None:
        if bearer_token(request) is not None:
            raise AuthenticationFailed("The token is not valid here.")
        found = super().authenticate(request)
        return (SessionCredential(user=found[0]), None) if found else None

    def enforce_csrf(self, request: Any) -> None:
        """The header alone proves it: looking for the token in a form too would read the body, here and for nothing."""
        bodiless = copy(request._request)
        bodiless.POST = QueryDict()
        super().enforce_csrf(bodiless)
