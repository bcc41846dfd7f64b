"""The endpoints that programs call: the toolkit's, each behind a guard that takes what came over the wire strictly; and
the connected apps of a company."""

import base64
import json
from typing import Any
from urllib.parse import unquote_plus

import orjson
from django.conf import settings
from django.db import InterfaceError, OperationalError, transaction
from django.http import HttpRequest, HttpResponse, QueryDict
from django.utils import timezone
from django.utils.decorators import method_decorator
from django.views.decorators.csrf import csrf_exempt
from drf_spectacular.utils import extend_schema
from oauth2_provider import views as toolkit
from rest_framework.request import Request
from rest_framework.response import Response

from companies.api import errors, throttling
from companies.api.methods import only
from companies.api.serializers import SUCCESS, Success
from companies.api.viewsets import ANY_MEMBER, CompanyViewSet
from companies.callers.authentication import TwoCredentials, challenge, refuse_second
from companies.callers.client_network import get_client_network
from companies.permissions import Permission
from oauth import asking, consents, documents
from oauth.authentication import AppCredential
from oauth.models import ConsentGrant
from oauth.serializers import ConnectedAppShape
from oauth.wire import scopes, tokens
from oauth.wire.parameters import Malformed, parse, written

FORM = "application/x-www-form-urlencoded"
MOST_BYTES = 64 * 1024
# What is read of a form; a name that oauthlib uses for itself cannot come from the wire.
KNOWN = {
    "grant_type", "code", "redirect_uri", "client_id", "client_secret", "code_verifier", "refresh_token", "scope",
    "token", "token_type_hint",
}  # fmt: skip


class Refused(Exception):
    """An error of RFC 6749, 5.2, that is found before the toolkit is asked."""

    def __init__(self, error: str, description: str, *, status: int = 400):
        self.error, self.description, self.status = error, description, status
        super().__init__(error)


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


def answer(body: Any, status: int, headers: dict[str, str]) -> HttpResponse:
    content = b"" if body is None else orjson.dumps(body)
    return HttpResponse(content, status=status, content_type="application/json", headers=headers)


# ---------------------------------------------------------------------------------------------- token and revoke


class FormEndpoint:
    """Before the toolkit's views: a form is posted, once each, nothing in the address; the answer is JSON that nobody
    keeps, refusals included. All that the toolkit stores for one request, it stores or none of it."""

    @method_decorator(csrf_exempt)
    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        if request.method == "OPTIONS":
            return preflight()
        basic = "HTTP_AUTHORIZATION" in request.META
        try:
            response = self.answered(request)
        except Refused as refusal:
            told = {"error": refusal.error, "error_description": refusal.description}
            response = answer(told, refusal.status, {"Allow": "POST"} if refusal.status == 405 else {})
        except (OperationalError, InterfaceError) as error:
            errors.log.exception("request %s failed", getattr(request, "request_id", ""))
            response = unavailable(error)
        response.headers.pop("WWW-Authenticate", None)  # the toolkit's names Bearer, which no client can use here
        if response.status_code == 401 and basic:
            response["WWW-Authenticate"] = 'Basic realm="oauth", charset="UTF-8"'
        own = {"Content-Type": "application/json", "Cache-Control": "no-store", "Pragma": "no-cache"}
        for name, value in (own | {"Access-Control-Allow-Origin": "*"}).items():
            response[name] = value
        return response

    def answered(self, request: HttpRequest) -> HttpResponse:
        now = timezone.now()
        budget = throttling.spend(f"token:{get_client_network(request)}", now=now.timestamp())
        if budget.exceeded:
            return answer({"error": "temporarily_unavailable"}, 429, {"Retry-After": str(budget.resets_in)})
        if request.method != "POST":
            raise Refused("invalid_request", "Use POST.", status=405)
        body = posted(request)
        identified(request, body)
        if "code" in body:
            body["code"] = tokens.digest(body["code"])  # as it is stored
        request.POST = QueryDict(written(body))
        request.META["request_id"] = getattr(request, "request_id", "")  # for the log, where oauthlib's request has it
        with transaction.atomic():
            return super().dispatch(request)  # type: ignore[misc]


def posted(request: HttpRequest) -> dict[str, str]:
    """The form that was posted, as far as it is known. Raises Refused."""
    if request.META.get("QUERY_STRING"):
        raise Refused("invalid_request", "Parameters belong in the body, not in the address.")
    if request.META.get("CONTENT_TYPE", "").partition(";")[0].strip().lower() != FORM:
        raise Refused("invalid_request", f"The body must be {FORM}.")
    try:
        body = parse(request.body.decode("ascii"))
    except (UnicodeDecodeError, Malformed) as error:
        told = str(error) if isinstance(error, Malformed) else "The parameters are not percent-encoded correctly."
        raise Refused("invalid_request", told) from None
    if "resource" in body and not asking.ours(body["resource"]):
        raise Refused("invalid_target", "resource must be this API's address, or one below it.")
    found = {name: value for name, value in body.items() if name in KNOWN}
    if "client_id" in found:
        found["client_id"] = documents.without_query(found["client_id"])
    return found


def identified(request: HttpRequest, body: dict[str, str]) -> None:
    """Moves a name and secret from the Authorization header into the form, where the toolkit reads them: one way
    in, and never two. Raises Refused."""
    header = request.META.pop("HTTP_AUTHORIZATION", None)
    if header is None:
        return
    scheme, _, encoded = header.partition(" ")
    try:  # each of the two is form-encoded (RFC 6749, 2.3.1)
        decoded = base64.b64decode(encoded.strip(), validate=True).decode()
        name, secret = (unquote_plus(part) for part in decoded.split(":", 1))
    except ValueError:
        name = secret = ""
    if scheme.lower() != "basic" or not name or "\0" in name:  # the database refuses to be asked for a NUL
        raise Refused("invalid_client", "The Authorization header is not Basic.", status=401)
    if "client_secret" in body:
        raise Refused("invalid_request", "The client authenticated in two ways.")
    if body.setdefault("client_id", name) != name:
        raise Refused("invalid_request", "client_id differs from the one in the Authorization header.")
    if secret:
        body["client_secret"] = secret


def unavailable(error: Exception) -> HttpResponse:
    """The database is away, or full. Whether a code or token was used up is then open: the app may try once more."""
    status, _, detail = errors.trouble(error)
    told = {"error": "temporarily_unavailable", "error_description": detail}
    return answer(told, status, {"Retry-After": str(errors.RETRY_AFTER.get(status, errors.LOST_FOR))})


class Token(FormEndpoint, toolkit.TokenView):
    """Codes and refresh tokens against access tokens."""

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """Which grant it is, is asked before the toolkit looks for a device."""
        kind = request.POST.get("grant_type")
        if kind is None:
            raise Refused("invalid_request", "grant_type is missing.")
        if kind not in ("authorization_code", "refresh_token"):
            raise Refused("unsupported_grant_type", "grant_type must be authorization_code or refresh_token.")
        return super().post(request, *args, **kwargs)


class Revoke(FormEndpoint, toolkit.RevokeTokenView):
    """RFC 7009; a token that is unknown or another app's is answered like one that was revoked."""


# ---------------------------------------------------------------------------------------------- userinfo


class UserInfo(toolkit.UserInfoView):
    """Who the user is, as far as the scopes say; refusals are RFC 6750's, told as everywhere in this API."""

    @method_decorator(csrf_exempt)
    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        if request.method == "OPTIONS":
            return preflight()
        response = self.answered(request)
        response["Cache-Control"] = "no-store"
        response["Access-Control-Allow-Origin"] = "*"
        if "WWW-Authenticate" in response:
            response["Access-Control-Expose-Headers"] = "WWW-Authenticate"
        return response

    def answered(self, request: HttpRequest) -> HttpResponse:
        header = request.META.get("HTTP_AUTHORIZATION", "")
        if request.method not in ("GET", "POST"):
            response = refused(request, 405, "method_not_allowed", "Use GET or POST.")
            response["Allow"] = "GET, POST"
            return response
        if not header.partition(" ")[2].strip():
            return refused(request, 401, "not_authenticated", "Send an access token.", "")
        try:
            refuse_second(request, header)
        except TwoCredentials as error:
            return refused(request, 400, error.code, error.detail, "invalid_request")
        request.META["QUERY_STRING"], request.POST = "", QueryDict()
        response = super().dispatch(request)
        if response.status_code == 403:
            return refused(request, 403, "permission_denied", "This needs the scope openid.", "insufficient_scope")
        if response.status_code != 200:
            told = "The access token is invalid, expired or revoked."
            return refused(request, 401, "invalid_credentials", told, "invalid_token")
        return response


def refused(request: HttpRequest, status: int, code: str, detail: str, error: str | None = None) -> HttpResponse:
    response = errors.plain(request, status=status, code=code, detail=detail)
    if error is not None:
        response["WWW-Authenticate"] = challenge(error or None, scope="openid")
    return response


# ---------------------------------------------------------------------------------------------- metadata


metadata = only("GET", "HEAD", "OPTIONS")
# What the toolkit's documents leave out, or say too much of.
SERVER = {
    "response_modes_supported": ["query"],
    "id_token_signing_alg_values_supported": [tokens.ALGORITHM],
    "claims_supported": ["sub", "iss", "aud", "exp", "iat", "auth_time", "nonce", "at_hash", "email", "name"],
    "prompt_values_supported": ["none", "login", "consent", "select_account"],
    "request_parameter_supported": False,
    "request_uri_parameter_supported": False,
    "claims_parameter_supported": False,
}


def public(request: HttpRequest, view: Any, more: dict[str, Any] | None = None) -> HttpResponse:
    """A document of the toolkit's that anyone may read and keep for a while."""
    if request.method == "OPTIONS":
        return preflight()
    body = json.loads(view.as_view()(request).content) | (more or {})
    headers = {"Cache-Control": "public, max-age=300", "Access-Control-Allow-Origin": "*"}
    return answer(body, 200, headers)


@metadata
def jwks(request: HttpRequest) -> HttpResponse:
    """The public keys, those that no longer sign included."""
    return public(request, toolkit.JwksInfoView)


@metadata
def server_metadata(request: HttpRequest) -> HttpResponse:
    """RFC 8414 and OpenID Connect Discovery, in one document at all four addresses."""
    if request.method == "OPTIONS":
        return preflight()
    oauth = json.loads(toolkit.OAuthServerMetadataView.as_view()(request).content)
    own = {
        "scopes_supported": list(scopes.ALL),
        "client_id_metadata_document_supported": documents.any_host_allowed(),
        "service_documentation": f"{settings.BASE_URL}/docs",
    }
    return public(request, toolkit.ConnectDiscoveryInfoView, oauth | SERVER | own)


@metadata
def resource_metadata(request: HttpRequest) -> HttpResponse:
    """RFC 9728: what protects the API, and where to get a token."""
    return describe_resource(request, settings.BASE_URL)


@metadata
def mcp_resource_metadata(request: HttpRequest) -> HttpResponse:
    """RFC 9728, 3.1: the same for the MCP endpoint, which is a resource of its own."""
    return describe_resource(request, f"{settings.BASE_URL}/mcp")


def describe_resource(request: HttpRequest, resource: str) -> HttpResponse:
    own = {"resource": resource, "scopes_supported": [scopes.READ, scopes.WRITE, scopes.OFFLINE]}
    return public(request, toolkit.OAuthProtectedResourceMetadataView, own)


# ---------------------------------------------------------------------------------------------- connected apps


class ConnectedAppViewSet(CompanyViewSet):
    """Everyone sees and ends their own; ``apps:manage`` reaches those of all members."""

    schema_tags = ["Connected apps"]
    permission_for = {"list": ANY_MEMBER, "destroy": ANY_MEMBER}

    @extend_schema(responses=ConnectedAppShape(many=True))
    def list(self, request: Request, company_id: str) -> Response:
        """The apps that members connected, each once however often it was approved: one's own, and with `apps:manage`
        everyone's. An app sees its own connection, an API key without `apps:manage` none."""
        self.only_parameters()
        rows = ConsentGrant.objects.of(self.company.id)
        if Permission.APPS_MANAGE not in self.access.permissions:
            rows = rows.filter(**self.own())
        return Response(ConnectedAppShape(consents.connections(rows), many=True).data)

    @extend_schema(responses={200: Success})
    def destroy(self, request: Request, company_id: str, connected_app_id: str) -> Response:
        """Disconnects an app: its next request is refused. Somebody else's needs `apps:manage`."""
        consent = self.found(ConsentGrant.objects.live(), connected_app_id)
        mine = ConsentGrant.objects.filter(id=consent.id).filter(**self.own()).exists()
        if not mine:
            self.require(Permission.APPS_MANAGE)
        consents.disconnect(consent, stamp=self.stamp)
        return Response(SUCCESS)

    def own(self) -> dict[str, Any]:
        """The caller's own consents; an app's own is the one that it acts under, a key has none."""
        if isinstance(self.caller, AppCredential):
            return {"id": self.caller.grant_id}
        return {"user_id": self.caller.user_id} if self.caller.user_id else {"id": None}
