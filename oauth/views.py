"""OAuth endpoints: the toolkit's, each behind strict checks of the request."""

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
from oauth2_provider import views as toolkit
from oauthlib.oauth2 import InvalidGrantError

from companies.api import errors
from companies.api.http_methods import allow_methods
from companies.auth import throttling
from companies.auth.authentication import InvalidRequest, build_challenge_header, refuse_second_token
from companies.auth.client_network import get_client_network
from oauth import authorization_request, client_metadata
from oauth.protocol import scopes, tokens
from oauth.protocol.parameters import MalformedParameters, encode_parameters, parse_parameters

FORM_CONTENT_TYPE = "application/x-www-form-urlencoded"
MAX_BODY_BYTES = 64 * 1024
# The parameters that are read; names that oauthlib uses internally must not come from a request.
FORM_PARAMETERS = {
    "grant_type", "code", "redirect_uri", "client_id", "client_secret", "code_verifier", "refresh_token", "scope",
    "token", "token_type_hint",
}  # fmt: skip


class TokenRequestError(Exception):
    """An error of RFC 6749, 5.2, found before the toolkit is called."""

    def __init__(self, error: str, description: str, *, status: int = 400):
        self.error, self.description, self.status = error, description, status
        super().__init__(error)


def build_preflight_response() -> HttpResponse:
    """Allow apps in browsers to call these endpoints, which read no cookie."""
    return HttpResponse(
        status=204,
        headers={
            "Access-Control-Allow-Origin": "*",
            "Access-Control-Allow-Methods": "GET, POST",
            "Access-Control-Allow-Headers": "Authorization, Content-Type, MCP-Protocol-Version",
            "Access-Control-Max-Age": "86400",
        },
    )


def build_json_response(body: Any, status: int, headers: dict[str, str]) -> HttpResponse:
    content = b"" if body is None else orjson.dumps(body)
    return HttpResponse(content, status=status, content_type="application/json", headers=headers)


class FormEndpoint:
    """Wraps the toolkit's views: takes a posted form, each parameter once, and answers uncached JSON.

    Everything that the toolkit stores for a request is one transaction.
    """

    @method_decorator(csrf_exempt)
    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        if request.method == "OPTIONS":
            return build_preflight_response()
        has_authorization = "HTTP_AUTHORIZATION" in request.META
        try:
            response = self.process_form(request)
        except TokenRequestError as request_error:
            error_body = {"error": request_error.error, "error_description": request_error.description}
            response = build_json_response(
                error_body, request_error.status, {"Allow": "POST"} if request_error.status == 405 else {}
            )
        except (OperationalError, InterfaceError) as error:
            errors.log.exception("request %s failed", getattr(request, "request_id", ""))
            response = build_unavailable_response(error)
        response.headers.pop("WWW-Authenticate", None)  # the toolkit sends Bearer, which clients cannot use here
        if response.status_code == 401 and has_authorization:
            response["WWW-Authenticate"] = 'Basic realm="oauth", charset="UTF-8"'
        headers = {"Content-Type": "application/json", "Cache-Control": "no-store", "Pragma": "no-cache"}
        for name, value in (headers | {"Access-Control-Allow-Origin": "*"}).items():
            response[name] = value
        return response

    def process_form(self, request: HttpRequest) -> HttpResponse:
        now = timezone.now()
        budget = throttling.consume_budget(f"token:{get_client_network(request)}", now=now.timestamp())
        if budget.is_exceeded:
            return build_json_response(
                {"error": "temporarily_unavailable"}, 429, {"Retry-After": str(budget.resets_in)}
            )
        if request.method != "POST":
            raise TokenRequestError("invalid_request", "Use POST.", status=405)
        body = parse_posted_form(request)
        move_basic_credentials(request, body)
        if "code" in body:
            body["code"] = tokens.compute_token_digest(body["code"])  # as it is stored
        request.POST = QueryDict(encode_parameters(body))
        request.META["request_id"] = getattr(request, "request_id", "")  # for the audit log; oauthlib passes it on
        with transaction.atomic():
            return super().dispatch(request)  # type: ignore[misc]


def parse_posted_form(request: HttpRequest) -> dict[str, str]:
    """Return the known parameters of the posted form.

    Raises:
        TokenRequestError: the request is invalid.
    """
    if request.META.get("QUERY_STRING"):
        raise TokenRequestError("invalid_request", "Send parameters in the body, not in the URL.")
    if request.META.get("CONTENT_TYPE", "").partition(";")[0].strip().lower() != FORM_CONTENT_TYPE:
        raise TokenRequestError("invalid_request", f"The body must be {FORM_CONTENT_TYPE}.")
    try:
        body = parse_parameters(request.body.decode("ascii"))
    except (UnicodeDecodeError, MalformedParameters) as error:
        message = (
            str(error)
            if isinstance(error, MalformedParameters)
            else "The parameters are not percent-encoded correctly."
        )
        raise TokenRequestError("invalid_request", message) from None
    if "resource" in body and not authorization_request.is_own_resource(body["resource"]):
        raise TokenRequestError("invalid_target", "resource must be the URL of this API or a URL below it.")
    values = {name: value for name, value in body.items() if name in FORM_PARAMETERS}
    if "client_id" in values:
        values["client_id"] = client_metadata.strip_client_id_query(values["client_id"])
    return values


def move_basic_credentials(request: HttpRequest, body: dict[str, str]) -> None:
    """Move client id and secret from the Authorization header into the form, where the toolkit reads them.

    Raises:
        TokenRequestError: the header is invalid, or both were used.
    """
    header = request.META.pop("HTTP_AUTHORIZATION", None)
    if header is None:
        return
    scheme, _, encoded = header.partition(" ")
    try:  # each of the two is form-encoded (RFC 6749, 2.3.1)
        decoded = base64.b64decode(encoded.strip(), validate=True).decode()
        name, secret = (unquote_plus(part) for part in decoded.split(":", 1))
    except ValueError:
        name = secret = ""
    if scheme.lower() != "basic" or not name or "\0" in name:  # PostgreSQL rejects NUL
        raise TokenRequestError("invalid_client", "Use Basic authentication in the Authorization header.", status=401)
    if "client_secret" in body:
        raise TokenRequestError("invalid_request", "Use only one method of client authentication.")
    if body.setdefault("client_id", name) != name:
        raise TokenRequestError("invalid_request", "client_id does not match the Authorization header.")
    if secret:
        body["client_secret"] = secret


def build_unavailable_response(error: Exception) -> HttpResponse:
    """Build the response while the database is unavailable; the app may retry once, since the code may be unused."""
    status, _, detail = errors.find_server_error(error)
    error_body = {"error": "temporarily_unavailable", "error_description": detail}
    return build_json_response(
        error_body,
        status,
        {"Retry-After": str(errors.RETRY_SECONDS_BY_STATUS.get(status, errors.UNAVAILABLE_RETRY_SECONDS))},
    )


class TokenView(FormEndpoint, toolkit.TokenView):
    """Exchanges codes and refresh tokens for access tokens."""

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """Check the grant type before the toolkit looks for a device."""
        kind = request.POST.get("grant_type")
        if kind is None:
            raise TokenRequestError("invalid_request", "grant_type is missing.")
        if kind not in ("authorization_code", "refresh_token"):
            raise TokenRequestError("unsupported_grant_type", "grant_type must be authorization_code or refresh_token.")
        return super().post(request, *args, **kwargs)


class RevokeView(FormEndpoint, toolkit.RevokeTokenView):
    """Revokes tokens (RFC 7009). An unknown token is answered like a revoked one, another app's is refused."""

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """Answer the errors that the toolkit does not expect of the revocation itself."""
        try:
            return super().post(request, *args, **kwargs)
        except InvalidGrantError as error:
            raise TokenRequestError(error.error, error.description) from None


class UserInfoView(toolkit.UserInfoView):
    """User info as the scopes allow; errors as in RFC 6750 and the rest of this API."""

    @method_decorator(csrf_exempt)
    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        if request.method == "OPTIONS":
            return build_preflight_response()
        response = self.build_response(request)
        response["Cache-Control"] = "no-store"
        response["Access-Control-Allow-Origin"] = "*"
        if "WWW-Authenticate" in response:
            response["Access-Control-Expose-Headers"] = "WWW-Authenticate"
        return response

    def build_response(self, request: HttpRequest) -> HttpResponse:
        header = request.META.get("HTTP_AUTHORIZATION", "")
        if request.method not in ("GET", "POST"):
            response = build_userinfo_error(request, 405, "method_not_allowed", "Use GET or POST.")
            response["Allow"] = "GET, POST"
            return response
        if not header.partition(" ")[2].strip():
            return build_userinfo_error(request, 401, "not_authenticated", "Send an access token.", "")
        try:
            refuse_second_token(request, header)
        except InvalidRequest as error:
            return build_userinfo_error(request, 400, error.code, error.detail, "invalid_request")
        request.META["QUERY_STRING"], request.POST = "", QueryDict()
        response = super().dispatch(request)
        if response.status_code == 403:
            return build_userinfo_error(
                request, 403, "permission_denied", "You need the scope openid.", "insufficient_scope"
            )
        if response.status_code != 200:
            message = "The access token is invalid, expired or revoked. Request a new one."
            return build_userinfo_error(request, 401, "invalid_credentials", message, "invalid_token")
        return response


def build_userinfo_error(
    request: HttpRequest, status: int, code: str, detail: str, error: str | None = None
) -> HttpResponse:
    response = errors.build_problem_response(request, status=status, code=code, detail=detail)
    if error is not None:
        response["WWW-Authenticate"] = build_challenge_header(error or None, scope="openid")
    return response


allow_metadata_methods = allow_methods("GET", "HEAD", "OPTIONS")
# Values that the toolkit's documents lack, or that must be replaced.
SERVER_METADATA = {
    "response_modes_supported": ["query"],
    "id_token_signing_alg_values_supported": [tokens.ALGORITHM],
    "claims_supported": ["sub", "iss", "aud", "exp", "iat", "auth_time", "nonce", "at_hash", "email", "name"],
    "prompt_values_supported": ["none", "login", "consent", "select_account"],
    "request_parameter_supported": False,
    "request_uri_parameter_supported": False,
    "claims_parameter_supported": False,
}


def build_public_response(
    request: HttpRequest, view: Any, additional_values: dict[str, Any] | None = None
) -> HttpResponse:
    """Build the response of a toolkit document that anyone may read and cache."""
    if request.method == "OPTIONS":
        return build_preflight_response()
    body = json.loads(view.as_view()(request).content) | (additional_values or {})
    headers = {"Cache-Control": "public, max-age=300", "Access-Control-Allow-Origin": "*"}
    return build_json_response(body, 200, headers)


@allow_metadata_methods
def show_jwks(request: HttpRequest) -> HttpResponse:
    """Return the public keys, including those that no longer sign."""
    return build_public_response(request, toolkit.JwksInfoView)


@allow_metadata_methods
def show_server_metadata(request: HttpRequest) -> HttpResponse:
    """Return RFC 8414 and OpenID Connect Discovery metadata, one document at all four URLs."""
    if request.method == "OPTIONS":
        return build_preflight_response()
    oauth = json.loads(toolkit.OAuthServerMetadataView.as_view()(request).content)
    own_metadata = {
        "scopes_supported": list(scopes.ALL_SCOPES),
        "client_id_metadata_document_supported": client_metadata.has_allowed_hosts(),
        "service_documentation": f"{settings.BASE_URL}/docs",
    }
    return build_public_response(request, toolkit.ConnectDiscoveryInfoView, oauth | SERVER_METADATA | own_metadata)


@allow_metadata_methods
def show_resource_metadata(request: HttpRequest) -> HttpResponse:
    """Return RFC 9728 metadata: what protects the API, and where to get a token."""
    return build_resource_metadata(request, settings.BASE_URL)


@allow_metadata_methods
def show_mcp_resource_metadata(request: HttpRequest) -> HttpResponse:
    """Return RFC 9728 metadata of the MCP endpoint, which is a resource of its own."""
    return build_resource_metadata(request, f"{settings.BASE_URL}/mcp")


def build_resource_metadata(request: HttpRequest, resource: str) -> HttpResponse:
    resource_values = {"resource": resource, "scopes_supported": [scopes.READ, scopes.WRITE, scopes.OFFLINE]}
    return build_public_response(request, toolkit.OAuthProtectedResourceMetadataView, resource_values)
