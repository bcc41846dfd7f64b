"""The endpoints that programs call: token, revoke, userinfo, keys, metadata, and the connected apps of a company."""

from collections.abc import Callable
from functools import wraps
from typing import Any

import orjson
from django.conf import settings
from django.db import InterfaceError, OperationalError
from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.views.decorators.csrf import csrf_exempt
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from companies.api import errors, throttling
from companies.api.methods import only
from companies.api.serializers import SUCCESS, Success
from companies.api.viewsets import ANY_MEMBER, CompanyViewSet
from companies.authentication import challenge
from companies.models import Stamp, User
from companies.permissions import Permission
from oauth import clients, consents, issuing, keys, scopes
from oauth.authentication import AppCredential, authenticate
from oauth.models import Application, ConsentGrant, RevokedReason
from oauth.parameters import Malformed, parse
from oauth.refusals import InvalidRequest, Refusal, UnsupportedGrantType
from oauth.serializers import ConnectedAppShape

FORM = "application/x-www-form-urlencoded"
MOST_BYTES = 64 * 1024
GRANTS: dict[str, Callable[..., dict[str, Any]]] = {
    "authorization_code": issuing.redeem,
    "refresh_token": issuing.refresh,
}


# ---------------------------------------------------------------------------------------------- token and revoke


def form_endpoint(act: Callable[..., Any]) -> Callable[..., HttpResponse]:
    """A form is posted, a client identified, and the answer is JSON that nobody keeps, refusals included."""

    @csrf_exempt
    @wraps(act)
    def view(request: HttpRequest) -> HttpResponse:
        if request.method == "OPTIONS":
            return preflight()
        now = timezone.now()
        budget = throttling.spend(f"token:{request.META.get('REMOTE_ADDR', '')}", now=now.timestamp())
        if budget.exceeded:
            return answer({"error": "temporarily_unavailable"}, 429, {"Retry-After": str(budget.resets_in)})
        if request.method != "POST":
            described = {"error": "invalid_request", "error_description": "Use POST."}
            return answer(described, 405, {"Allow": "POST"})
        try:
            return answer(act(request, now=now), 200, {})
        except Refusal as refusal:
            told = {"error": refusal.error, "error_description": refusal.description}
            return answer(told, refusal.status, refusal.headers)
        except (OperationalError, InterfaceError) as error:
            errors.log.exception("request %s failed", getattr(request, "request_id", ""))
            return unavailable(error)

    return view


def unavailable(error: Exception) -> HttpResponse:
    """The database is away, or full. Whether a code or token was used up is then open: the app may try once more."""
    status, _, detail = errors.trouble(error)
    told = {"error": "temporarily_unavailable", "error_description": detail}
    return answer(told, status, {"Retry-After": str(errors.RETRY_AFTER.get(status, errors.LOST_FOR))})


def answer(body: Any, status: int, headers: dict[str, str]) -> HttpResponse:
    content = b"" if body is None else orjson.dumps(body)
    own = {"Cache-Control": "no-store", "Pragma": "no-cache", "Access-Control-Allow-Origin": "*"}
    return HttpResponse(content, status=status, content_type="application/json", headers=own | headers)


def preflight() -> HttpResponse:
    """Apps that run in a browser may call these endpoints; no cookie is ever looked at."""
    return HttpResponse(
        status=204,
        headers={
            "Access-Control-Allow-Origin": "*",
            "Access-Control-Allow-Methods": "GET, POST",
            "Access-Control-Allow-Headers": "Authorization, Content-Type, MCP-Protocol-Version",
            "Access-Control-Max-Age": "86400",
        },
    )


def posted(request: HttpRequest) -> dict[str, str]:
    """The form that was posted. Raises InvalidRequest."""
    if request.META.get("QUERY_STRING"):
        raise InvalidRequest("Parameters belong in the body, not in the address.")
    if request.META.get("CONTENT_TYPE", "").partition(";")[0].strip().lower() != FORM:
        raise InvalidRequest(f"The body must be {FORM}.")
    if int(request.META.get("CONTENT_LENGTH") or 0) > MOST_BYTES:
        raise InvalidRequest("The body is too large.")
    try:
        return parse(request.body.decode("ascii"))
    except UnicodeDecodeError:
        raise InvalidRequest("The parameters are not percent-encoded correctly.") from None
    except Malformed as error:
        raise InvalidRequest(str(error)) from None


def caller_and_body(request: HttpRequest) -> tuple[Application, dict[str, str]]:
    body = posted(request)
    return clients.identify(body, request.META.get("HTTP_AUTHORIZATION")), body


@form_endpoint
def token(request: HttpRequest, *, now: Any) -> dict[str, Any]:
    """Codes and refresh tokens against access tokens."""
    body = posted(request)
    kind = issuing.required(body, "grant_type")
    if kind not in GRANTS:
        raise UnsupportedGrantType("grant_type must be authorization_code or refresh_token.")
    application = clients.identify(body, request.META.get("HTTP_AUTHORIZATION"))
    return GRANTS[kind](application=application, body=body, stamp=stamp_of(request, application, now))


@form_endpoint
def revoke(request: HttpRequest, *, now: Any) -> None:
    """RFC 7009; a token that is unknown or another app's is answered like one that was revoked."""
    application, body = caller_and_body(request)
    issuing.revoke(application=application, body=body, stamp=stamp_of(request, application, now))


def stamp_of(request: HttpRequest, application: Application, now: Any) -> Stamp:
    """An app changes something in the name of nobody."""
    return Stamp(
        time=now, credential=f"client:{application.client_id}"[:120], request_id=getattr(request, "request_id", "")
    )


# ---------------------------------------------------------------------------------------------- userinfo


@csrf_exempt
def userinfo(request: HttpRequest) -> HttpResponse:
    """Who the user is, as far as the scopes say."""
    if request.method == "OPTIONS":
        return preflight()
    if request.method not in ("GET", "POST"):
        response = refused(request, 405, "method_not_allowed", "Use GET or POST.")
        response["Allow"] = "GET, POST"
        return response
    now = timezone.now()
    scheme, _, text = request.META.get("HTTP_AUTHORIZATION", "").partition(" ")
    if not text.strip():
        return refused(request, 401, "not_authenticated", "Send an access token.", challenge(scope="openid"))
    caller = authenticate(text.strip(), now=now) if scheme.lower() == "bearer" else None
    if caller is None:
        told = "The access token is invalid, expired or revoked."
        return refused(request, 401, "invalid_credentials", told, challenge("invalid_token", scope="openid"))
    if scopes.OPENID not in caller.scopes:
        told = "This needs the scope openid."
        return refused(request, 403, "permission_denied", told, challenge("insufficient_scope", scope="openid"))
    response = answer(claims_of(caller), 200, {})
    caller.note_use(now)
    return response


def claims_of(caller: AppCredential) -> dict[str, str]:
    user = User.objects.only("email", "name").get(id=caller.user_id)
    claims = {"sub": str(caller.user_id)}
    if scopes.EMAIL in caller.scopes:
        claims["email"] = user.email
    if scopes.PROFILE in caller.scopes:
        claims["name"] = user.display_name
    return claims


def refused(request: HttpRequest, status: int, code: str, detail: str, header: str | None = None) -> HttpResponse:
    response = errors.plain(request, status=status, code=code, detail=detail)
    response["Cache-Control"] = "no-store"
    response["Access-Control-Allow-Origin"] = "*"
    if header:
        response["WWW-Authenticate"] = header
        response["Access-Control-Expose-Headers"] = "WWW-Authenticate"
    return response


# ---------------------------------------------------------------------------------------------- metadata


metadata = only("GET", "HEAD", "OPTIONS")


def public(request: HttpRequest, body: dict[str, Any]) -> HttpResponse:
    """A document that anyone may read and keep for a while."""
    if request.method == "OPTIONS":
        return preflight()
    headers = {"Cache-Control": "public, max-age=300", "Access-Control-Allow-Origin": "*"}
    return HttpResponse(orjson.dumps(body), content_type="application/json", headers=headers)


@metadata
def jwks(request: HttpRequest) -> HttpResponse:
    """The public keys, those that no longer sign included."""
    return public(request, keys.published())


@metadata
def server_metadata(request: HttpRequest) -> HttpResponse:
    """RFC 8414 and OpenID Connect Discovery, in one document."""
    endpoint = f"{settings.AUTH_URL}/oauth2"
    methods = ["none", "client_secret_basic", "client_secret_post"]
    body = {
        "issuer": settings.AUTH_URL,
        "authorization_endpoint": f"{endpoint}/authorize",
        "token_endpoint": f"{endpoint}/token",
        "userinfo_endpoint": f"{endpoint}/userinfo",
        "revocation_endpoint": f"{endpoint}/revoke",
        "jwks_uri": f"{endpoint}/jwks",
        "scopes_supported": list(scopes.ALL),
        "response_types_supported": ["code"],
        "response_modes_supported": ["query"],
        "grant_types_supported": list(GRANTS),
        "code_challenge_methods_supported": ["S256"],
        "token_endpoint_auth_methods_supported": methods,
        "revocation_endpoint_auth_methods_supported": methods,
        "subject_types_supported": ["public"],
        "id_token_signing_alg_values_supported": [keys.ALGORITHM],
        "claims_supported": ["sub", "iss", "aud", "exp", "iat", "auth_time", "nonce", "at_hash", "email", "name"],
        "prompt_values_supported": ["none", "login", "consent", "select_account"],
        "authorization_response_iss_parameter_supported": True,
        "request_parameter_supported": False,
        "request_uri_parameter_supported": False,
        "claims_parameter_supported": False,
        "service_documentation": f"{settings.BASE_URL}/docs",
    }
    return public(request, body)


@metadata
def resource_metadata(request: HttpRequest) -> HttpResponse:
    """RFC 9728: what protects the API, and where to get a token."""
    body = {
        "resource": settings.BASE_URL,
        "authorization_servers": [settings.AUTH_URL],
        "scopes_supported": [scopes.READ, scopes.WRITE, scopes.OFFLINE],
        "bearer_methods_supported": ["header"],
        "resource_documentation": f"{settings.BASE_URL}/docs",
    }
    return public(request, body)


# ---------------------------------------------------------------------------------------------- connected apps


class ConnectedAppViewSet(CompanyViewSet):
    """Everyone sees and ends their own; ``apps:manage`` reaches those of all members."""

    schema_tags = ["Connected apps"]
    permission_for = {"list": ANY_MEMBER, "destroy": ANY_MEMBER}

    @extend_schema(responses=ConnectedAppShape(many=True))
    def list(self, request: Request, company_id: str) -> Response:
        """The apps that members connected: one's own, and with `apps:manage` everyone's. An app sees its own
        connection, an API key without `apps:manage` none."""
        self.only_parameters()
        rows = ConsentGrant.objects.of(self.company.id).connected()
        if Permission.APPS_MANAGE not in self.access.permissions:
            rows = rows.filter(**self.own())
        return Response(ConnectedAppShape(rows, many=True).data)

    @extend_schema(responses=Success)
    def destroy(self, request: Request, company_id: str, connected_app_id: str) -> Response:
        """Disconnects an app: its next request is refused. Somebody else's needs `apps:manage`."""
        consent = self.found(ConsentGrant.objects.live(), connected_app_id, locked=True)
        mine = ConsentGrant.objects.filter(id=consent.id).filter(**self.own()).exists()
        if not mine:
            self.require(Permission.APPS_MANAGE)
        consents.revoke(consent, reason=RevokedReason.USER, stamp=self.stamp)
        return Response(SUCCESS)

    def own(self) -> dict[str, Any]:
        """The caller's own consents; an app's own is the one that it acts under, a key has none."""
        if isinstance(self.caller, AppCredential):
            return {"id": self.caller.grant_id}
        return {"user_id": self.caller.user_id} if self.caller.user_id else {"id": None}

    def changes_company(self, response: Response) -> bool:
        return False
