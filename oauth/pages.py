"""The consent page."""

from datetime import datetime
from typing import Any, NoReturn
from urllib.parse import quote

from django.db import transaction
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.decorators import method_decorator
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop
from django.views.decorators.csrf import csrf_exempt, csrf_protect
from oauth2_provider.exceptions import FatalClientError, OAuthToolkitError
from oauth2_provider.http import OAuth2ResponseRedirect
from oauth2_provider.views import AuthorizationView
from oauthlib.oauth2.rfc6749 import errors

from companies.auth import login_redirects, sessions
from companies.auth.authentication import SessionCredential
from companies.auth.client_network import get_client_network
from companies.errors import NotFoundError
from companies.pages.context import (
    build_audit_context,
    get_signed_in_user,
)
from companies.pages.user.sign_in import allow_return_to_app
from oauth import authorization_request, client_metadata, consents
from oauth.models import Application, ConsentGrant
from oauth.protocol import redirects, scopes
from oauth.protocol.parameters import REPEATED_MESSAGE, MalformedParameters, encode_parameters, parse_parameters

ALLOW_DECISION, DENY_DECISION = "allow", "deny"
FORM_CONTENT_TYPE = "application/x-www-form-urlencoded"
UNKNOWN_APP = gettext_noop("This app is unknown or was disabled.")
UNKNOWN_ADDRESS = gettext_noop("The redirect URI is not registered for this app.")
TOO_LONG = gettext_noop("The request is too long.")


@method_decorator(allow_return_to_app, name="dispatch")
@method_decorator(csrf_exempt, name="dispatch")  # for requests posted by apps; the decision is checked below
class AuthorizeView(AuthorizationView):
    """An app requests authorization; the user signs in, picks a company and decides.

    The toolkit reads and checks the request and makes the code. Its own page is not used, since it trusts
    hidden form fields and skips itself for approval_prompt=auto.
    """

    http_method_names = ["get", "head", "post"]

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        self.query = request.META.get("QUERY_STRING", "")
        self.address = request.get_full_path()
        if request.method == "POST" and not {"decision", "csrfmiddlewaretoken"} & request.POST.keys():
            return self.redirect_posted_request(request)
        try:
            parameters = parse_parameters(self.query)
        except MalformedParameters as error:
            return render_invalid_request(request, str(error))
        if len(quote(self.query, safe="")) > login_redirects.MAX_URL_LENGTH:
            return render_invalid_request(request, TOO_LONG)
        self.parameters = {
            name: value for name, value in parameters.items() if name in authorization_request.REQUEST_PARAMETERS
        }
        if "client_id" in self.parameters:
            self.parameters["client_id"] = client_metadata.strip_client_id_query(self.parameters["client_id"])
        request.META["QUERY_STRING"] = encode_parameters(
            self.parameters
        )  # read by the toolkit: each parameter once, none empty
        return super().dispatch(request)

    def redirect_posted_request(self, request: HttpRequest) -> HttpResponse:
        """Redirect a request that the app posted as a form (OpenID Connect Core, 3.1.2.1)."""
        if request.content_type != FORM_CONTENT_TYPE:
            return render_invalid_request(request, _("POST requests must use {form}.").format(form=FORM_CONTENT_TYPE))
        query = quote(f"{self.query}&{request.body.decode('latin-1')}".strip("&"), safe="%&=+")
        if len(query) > login_redirects.MAX_URL_LENGTH:
            return render_invalid_request(request, TOO_LONG)
        return HttpResponse(
            status=303,
            headers={"Location": f"{authorization_request.AUTHORIZE_PATH}?{query}", "Cache-Control": "no-store"},
        )

    def get(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        return self.handle_request(request)

    @method_decorator(csrf_protect)
    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """Handle the user's decision, which must come from our own page; the toolkit does not see its form."""
        if any(len(values) > 1 for _, values in request.POST.lists()):
            return render_invalid_request(request, REPEATED_MESSAGE)
        self.decision, request.POST = request.POST, QueryDict()
        return self.handle_request(request)

    def handle_no_permission(self) -> HttpResponse:
        """Require a sign-in before anything is sent to the app, errors included.

        Otherwise a made-up request would turn this URL into an open redirector (RFC 9700, 4.11.2). With
        prompt=none the app is told that nobody is signed in. An unknown metadata document is fetched after the
        sign-in.
        """
        client_id, is_silent = (
            self.parameters.get("client_id", ""),
            "none" in authorization_request.parse_prompts(self.parameters),
        )
        if (
            client_metadata.is_allowed_client_url(client_id)
            and not Application.objects.filter(client_id=client_id).exists()
        ):
            return (
                render_invalid_request(self.request, UNKNOWN_APP)
                if is_silent
                else self.redirect_to_sign_in(is_sign_in_required=self.requires_new_sign_in)
            )
        try:
            _, credentials = self.validate_authorization_request(self.request)
            if "none" in authorization_request.parse_prompts(self.parameters):
                raise_oauth_error(credentials, "login_required", "The user is not signed in.")
        except OAuthToolkitError as error:
            if isinstance(error, FatalClientError) or "none" in authorization_request.parse_prompts(self.parameters):
                return self.error_response(error, None)
        return self.redirect_to_sign_in(is_sign_in_required=self.requires_new_sign_in)

    @property
    def requires_new_sign_in(self) -> bool:
        """Whether the app requires a sign-in that is newer than some time."""
        return bool(self.parameters.keys() & {"prompt", "max_age"})

    def handle_request(self, request: HttpRequest) -> HttpResponse:
        try:
            with client_metadata.allow_metadata_fetches(get_client_network(request), now=timezone.now()):
                requested_scopes, credentials = self.validate_authorization_request(request)
            return self.process_request(request, requested_scopes, credentials)
        except OAuthToolkitError as error:
            return self.error_response(error, None)

    def process_request(
        self, request: HttpRequest, requested_scopes: list[str], credentials: dict[str, Any]
    ) -> HttpResponse:
        """Process a valid request.

        Raises:
            OAuthToolkitError: it cannot be granted.
        """
        now, is_silent, is_decision = (
            timezone.now(),
            "none" in authorization_request.parse_prompts(self.parameters),
            request.method == "POST",
        )
        if not authorization_request.is_sign_in_recent_enough(
            self.parameters, request, query=self.query, now=now, is_decision=is_decision
        ):
            if is_silent:
                raise_oauth_error(credentials, "login_required", "The sign-in is older than max_age.")
            return self.redirect_to_sign_in(is_sign_in_required=True)
        if authorization_request.get_hinted_user_id(self.parameters) not in (None, str(get_signed_in_user(request).pk)):
            raise_oauth_error(credentials, "login_required", "A different user is signed in.")
        if is_silent:
            return self.authorize_silently(request, requested_scopes, credentials)
        if self.needs_recent_sign_in(request, requested_scopes, now=now):
            return self.redirect_to_sign_in(is_sign_in_required=False)
        if not is_decision:
            return self.render_consent_page(request, requested_scopes, credentials)
        response = self.process_decision(request, requested_scopes, credentials)
        if isinstance(response, OAuth2ResponseRedirect):
            authorization_request.delete_sign_in_request(response, request, query=self.query, now=now)
        return response

    def needs_recent_sign_in(self, request: HttpRequest, requested_scopes: list[str], *, now: datetime) -> bool:
        """Return whether the user must sign in again: to let an app write or stay connected, not to deny it."""
        is_denied = request.method == "POST" and self.decision.get("decision") == DENY_DECISION
        is_sensitive = not {scopes.WRITE, scopes.OFFLINE}.isdisjoint(requested_scopes)
        return is_sensitive and not is_denied and not sessions.is_recently_authenticated(request, now=now)

    def authorize_silently(
        self, request: HttpRequest, requested_scopes: list[str], credentials: dict[str, Any]
    ) -> HttpResponse:
        """Answer prompt=none with a code for a standing consent; only for https, which proves the app."""
        application, user_id = credentials["request"].client, get_signed_in_user(request).pk
        is_https = credentials["redirect_uri"].startswith("https://")
        consent = (
            consents.find_standing_consent(application=application, user_id=user_id, requested_scopes=requested_scopes)
            if is_https
            else None
        )
        if consent is None:
            raise_oauth_error(credentials, "consent_required", "The user must consent.")
        return self.respond_with_code(request, requested_scopes, credentials, consent)

    def process_decision(
        self, request: HttpRequest, requested_scopes: list[str], credentials: dict[str, Any]
    ) -> HttpResponse:
        """Process the user's decision.

        Raises:
            OAuthToolkitError: it was denied.
        """
        decision, chosen = self.decision.get("decision"), self.decision.get("company")
        if decision == DENY_DECISION:
            denied = errors.AccessDeniedError("The user denied access.", request=credentials["request"])
            return self.error_response(OAuthToolkitError(error=denied), None)
        possible_companies = [
            company
            for company in list_company_choices(request, requested_scopes)
            if company["id"] == chosen and company["possible"]
        ]
        if decision != ALLOW_DECISION or not possible_companies:
            message = _("Choose a company.") if decision == ALLOW_DECISION else _("Allow access or cancel.")
            return self.render_consent_page(request, requested_scopes, credentials, status=400, error=message)
        try:
            with transaction.atomic():
                consent = consents.create_consent(
                    application=credentials["request"].client,
                    access=possible_companies[0]["access"],
                    user_id=get_signed_in_user(request).pk,
                    requested_scopes=requested_scopes,
                    auth_time=sessions.get_auth_time(request),
                    context=build_audit_context(request),
                )
                return self.respond_with_code(request, requested_scopes, credentials, consent)
        except NotFoundError:
            message = _("You are no longer a member of this company.")
            return self.render_consent_page(request, requested_scopes, credentials, status=400, error=message)

    def respond_with_code(
        self, request: HttpRequest, requested_scopes: list[str], credentials: dict[str, Any], consent: ConsentGrant
    ) -> HttpResponse:
        credentials |= {"consent": consent, "auth_time": sessions.get_auth_time(request)}
        uri, *_ = self.create_authorization_response(request, " ".join(requested_scopes), credentials, allow=True)
        return self.redirect(
            authorization_request.build_response_uri(uri, credentials["redirect_uri"]), credentials["request"].client
        )

    def render_consent_page(
        self,
        request: HttpRequest,
        requested_scopes: list[str],
        credentials: dict[str, Any],
        *,
        status: int = 200,
        error: str = "",
    ) -> HttpResponse:
        switch = f"{login_redirects.build_sign_in_url_from_api(self.address, reauthenticate=True)}&else=1"
        application, uri = credentials["request"].client, credentials["redirect_uri"]
        page_values = build_consent_context(
            application,
            uri=uri,
            requested_scopes=requested_scopes,
            companies=list_company_choices(request, requested_scopes),
        )
        page_values |= {"signed_in": sessions.get_auth_time(request), "place": request.session.get("address", "")}
        context = page_values | {"error": error, "form_action": self.address, "switch": switch}
        return render(request, "oauth/consent.html", context, status=status)

    def redirect_to_sign_in(self, *, is_sign_in_required: bool) -> HttpResponse:
        """Redirect to the sign-in page, which returns here; the app's login_hint is filled in."""
        address = login_redirects.build_sign_in_url_from_api(f"{authorization_request.AUTHORIZE_PATH}?{self.query}")
        if self.request.user.is_authenticated:
            address += "&again=1"
        hint = f"&username={quote(self.parameters['login_hint'], safe='')}" if "login_hint" in self.parameters else ""
        if len(address + hint) <= login_redirects.MAX_URL_LENGTH:
            address += hint
        response = redirect(address)
        response["Cache-Control"] = "no-store"
        if is_sign_in_required:
            authorization_request.record_sign_in_request(response, self.request, query=self.query, now=timezone.now())
        return response

    def error_response(self, error: OAuthToolkitError, application: Any, **kwargs: Any) -> HttpResponse:
        """Show the error to the user if the client or its redirect URI is unknown, else send it to the app."""
        oauthlib_error = error.oauthlib_error
        if isinstance(error, FatalClientError):
            is_unknown_app = isinstance(oauthlib_error, errors.InvalidClientIdError | errors.MissingClientIdError)
            return render_invalid_request(self.request, UNKNOWN_APP if is_unknown_app else UNKNOWN_ADDRESS)
        application = Application.objects.get(client_id=self.parameters["client_id"])
        return self.redirect(
            authorization_request.build_response_uri(f"?{oauthlib_error.urlencoded}", oauthlib_error.redirect_uri),
            application,
        )

    def redirect(self, redirect_to: str, application: Application) -> HttpResponse:
        response = super().redirect(redirect_to, application)
        if self.request.method == "POST":
            response.status_code = 303  # the browser must not send the decision on to the app (RFC 9700, 4.12)
        response["Cache-Control"] = "no-store"
        return response


def raise_oauth_error(credentials: dict[str, Any], error: str, description: str) -> NoReturn:
    """Raise an error that is sent to the app.

    Raises:
        OAuthToolkitError.
    """
    oauthlib_error = errors.CustomOAuth2Error(error, description=description, request=credentials["request"])
    raise OAuthToolkitError(error=oauthlib_error)


def build_consent_context(
    application: Application, *, uri: str, requested_scopes: list[str], companies: list[dict[str, Any]]
) -> dict[str, Any]:
    """Build the context of the consent page: which app requests what, and where the user goes next."""
    possible = [each for each in companies if each["possible"]]
    if len(possible) == 1:
        possible[0]["chosen"] = True
    return {
        "application": application,
        "destination": redirects.describe_destination(uri),
        "companies": companies,
        "possible": possible,
        "able": [
            {"sentence": scopes.SCOPE_SENTENCES[scope], "writes": scope == scopes.WRITE} for scope in requested_scopes
        ],
        "reads": scopes.READ in requested_scopes,
        "writes": scopes.WRITE in requested_scopes,
    }


def list_company_choices(request: HttpRequest, requested_scopes: list[str]) -> list[dict[str, Any]]:
    """List the user's companies, each with whether anything can be granted for the scopes."""
    accesses = SessionCredential(user=get_signed_in_user(request)).accesses()
    return [
        {
            "id": str(a.company.id),
            "access": a,
            "possible": consents.can_grant(a, requested_scopes, snapshot=a.permissions),
            "chosen": False,
        }
        for a in accesses
    ]


def render_invalid_request(request: HttpRequest, reason: str) -> HttpResponse:
    return render(request, "oauth/authorization_error.html", {"why": _(reason)}, status=400)
