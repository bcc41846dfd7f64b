"""The consent page, and Settings → API keys, where people see and end what lets programs in."""

from datetime import datetime
from typing import Any, NoReturn
from urllib.parse import quote
from uuid import UUID

from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.decorators import method_decorator
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop
from django.views.decorators.csrf import csrf_exempt, csrf_protect
from django.views.decorators.http import require_POST, require_safe
from oauth2_provider.exceptions import FatalClientError, OAuthToolkitError
from oauth2_provider.http import OAuth2ResponseRedirect
from oauth2_provider.views import AuthorizationView
from oauthlib.oauth2.rfc6749 import errors

from companies.callers import addresses, sessions
from companies.callers.access import Access
from companies.callers.authentication import SessionCredential
from companies.callers.client_network import get_client_network
from companies.errors import Missing
from companies.pages.people.signing_in import allow_return_to_app
from companies.pages.settings.keys import key_settings
from companies.pages.visits import Visit, page_stamp, person, reached, signed_in
from companies.permissions import Permission
from oauth import asking, consents, documents
from oauth.models import Application, ConsentGrant
from oauth.wire import redirects, scopes
from oauth.wire.parameters import REPEATED, Malformed, parse, written

ALLOW, DENY = "allow", "deny"
FORM = "application/x-www-form-urlencoded"
UNKNOWN_APP = gettext_noop("The app that sent you here is not known, or was switched off.")
UNKNOWN_ADDRESS = gettext_noop("The app named an address to return to that is not registered for it.")
TOO_LONG = gettext_noop("The request is too long.")


@method_decorator(allow_return_to_app, name="dispatch")
@method_decorator(csrf_exempt, name="dispatch")  # for apps that post a request; the decision's own check is below
class Authorize(AuthorizationView):
    """An app asks; the user signs in, picks a company and decides.

    The toolkit reads and checks the request and makes the code. Its own page is not shown, for it believes the hidden
    fields of its form, and skips itself where the address says approval_prompt=auto.
    """

    http_method_names = ["get", "head", "post"]

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        self.query = request.META.get("QUERY_STRING", "")
        self.address = request.get_full_path()
        if request.method == "POST" and not {"decision", "csrfmiddlewaretoken"} & request.POST.keys():
            return self.posted(request)
        try:
            asked = parse(self.query)
        except Malformed as error:
            return unanswerable(request, str(error))
        if len(quote(self.query, safe="")) > addresses.LONGEST:
            return unanswerable(request, TOO_LONG)
        self.asked = {name: value for name, value in asked.items() if name in asking.KNOWN}
        if "client_id" in self.asked:
            self.asked["client_id"] = documents.without_query(self.asked["client_id"])
        request.META["QUERY_STRING"] = written(self.asked)  # what the toolkit reads: each once, none empty
        return super().dispatch(request)

    def posted(self, request: HttpRequest) -> HttpResponse:
        """An app sent the request itself as a form (OpenID Connect Core, 3.1.2.1): it goes on as any other."""
        if request.content_type != FORM:
            return unanswerable(request, _("A request that is posted must be {form}.").format(form=FORM))
        query = quote(f"{self.query}&{request.body.decode('latin-1')}".strip("&"), safe="%&=+")
        if len(query) > addresses.LONGEST:
            return unanswerable(request, TOO_LONG)
        return HttpResponse(status=303, headers={"Location": f"{asking.PATH}?{query}", "Cache-Control": "no-store"})

    def get(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        return self.considered(request)

    @method_decorator(csrf_protect)
    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """The user's decision, which must come from our own page. The toolkit sees nothing of its form."""
        if any(len(values) > 1 for _name, values in request.POST.lists()):
            return unanswerable(request, REPEATED)
        self.decision, request.POST = request.POST, QueryDict()
        return self.considered(request)

    def handle_no_permission(self) -> HttpResponse:
        """An anonymous user signs in before anything is sent to the app, a refusal too: a made-up request must not turn
        this address into a redirector (RFC 9700, 4.11.2). One that asked for no page is told that nobody is there.

        A document that nobody has read yet is read after the sign-in."""
        client_id, silent = self.asked.get("client_id", ""), "none" in asking.prompts(self.asked)
        if documents.may_be_client(client_id) and not Application.objects.filter(client_id=client_id).exists():
            return unanswerable(self.request, UNKNOWN_APP) if silent else self.to_sign_in(ask=self.asks_to_sign_in)
        try:
            _scopes, credentials = self.validate_authorization_request(self.request)
            if "none" in asking.prompts(self.asked):
                refuse(credentials, "login_required", "Nobody is signed in.")
        except OAuthToolkitError as error:
            if isinstance(error, FatalClientError) or "none" in asking.prompts(self.asked):
                return self.error_response(error, None)
        return self.to_sign_in(ask=self.asks_to_sign_in)

    @property
    def asks_to_sign_in(self) -> bool:
        """Whether the app wants a sign-in that is newer than some time."""
        return bool(self.asked.keys() & {"prompt", "max_age"})

    def considered(self, request: HttpRequest) -> HttpResponse:
        try:
            with documents.fetching_for(get_client_network(request), now=timezone.now()):
                asked_scopes, credentials = self.validate_authorization_request(request)
            return self.weighed(request, asked_scopes, credentials)
        except OAuthToolkitError as error:
            return self.error_response(error, None)

    def weighed(self, request: HttpRequest, asked_scopes: list[str], credentials: dict[str, Any]) -> HttpResponse:
        """A sound request. Raises OAuthToolkitError."""
        now, silent, deciding = timezone.now(), "none" in asking.prompts(self.asked), request.method == "POST"
        if not asking.fresh_enough(self.asked, request, query=self.query, now=now, deciding=deciding):
            if silent:
                refuse(credentials, "login_required", "The sign-in is older than max_age.")
            return self.to_sign_in(ask=True)
        if asking.hinted_user(self.asked) not in (None, str(person(request).pk)):
            refuse(credentials, "login_required", "Somebody else is signed in.")
        if silent:
            return self.silently(request, asked_scopes, credentials)
        if self.needs_proof(request, asked_scopes, now=now):
            return self.to_sign_in(ask=False)
        if not deciding:
            return self.page(request, asked_scopes, credentials)
        response = self.decided(request, asked_scopes, credentials)
        if isinstance(response, OAuth2ResponseRedirect):
            asking.forget_sign_in(response, request, query=self.query, now=now)
        return response

    def needs_proof(self, request: HttpRequest, asked_scopes: list[str], *, now: datetime) -> bool:
        """Whether the user must sign in again: to let an app change data or stay connected, not to refuse it."""
        refused = request.method == "POST" and self.decision.get("decision") == DENY
        is_sensitive = not {scopes.WRITE, scopes.OFFLINE}.isdisjoint(asked_scopes)
        return is_sensitive and not refused and not sessions.signed_in_recently(request, now=now)

    def silently(self, request: HttpRequest, asked_scopes: list[str], credentials: dict[str, Any]) -> HttpResponse:
        """prompt=none: a code on the strength of a consent that stands. Only for https, where the app is proven."""
        application, user_id = credentials["request"].client, person(request).pk
        proven = credentials["redirect_uri"].startswith("https://")
        consent = consents.standing(application=application, user_id=user_id, asked=asked_scopes) if proven else None
        if consent is None:
            refuse(credentials, "consent_required", "The user must be asked.")
        return self.with_code(request, asked_scopes, credentials, consent)

    def decided(self, request: HttpRequest, asked_scopes: list[str], credentials: dict[str, Any]) -> HttpResponse:
        """What the user pressed. Raises OAuthToolkitError."""
        decision, chosen = self.decision.get("decision"), self.decision.get("company")
        if decision == DENY:
            denied = errors.AccessDeniedError("The user refused.", request=credentials["request"])
            return self.error_response(OAuthToolkitError(error=denied), None)
        found = [each for each in choices(request, asked_scopes) if each["id"] == chosen and each["possible"]]
        if decision != ALLOW or not found:
            wrong = _("Choose the company to give access to.") if decision == ALLOW else _("Allow access, or cancel.")
            return self.page(request, asked_scopes, credentials, status=400, error=wrong)
        try:
            with transaction.atomic():
                consent = consents.give(
                    application=credentials["request"].client,
                    access=found[0]["access"],
                    user_id=person(request).pk,
                    asked=asked_scopes,
                    auth_time=sessions.auth_time(request),
                    stamp=page_stamp(request),
                )
                return self.with_code(request, asked_scopes, credentials, consent)
        except Missing:
            wrong = _("You no longer belong to that company.")
            return self.page(request, asked_scopes, credentials, status=400, error=wrong)

    def with_code(
        self, request: HttpRequest, asked_scopes: list[str], credentials: dict[str, Any], consent: ConsentGrant
    ) -> HttpResponse:
        credentials |= {"consent": consent, "auth_time": sessions.auth_time(request)}
        uri, *_rest = self.create_authorization_response(request, " ".join(asked_scopes), credentials, allow=True)
        return self.redirect(asking.answer_uri(uri, credentials["redirect_uri"]), credentials["request"].client)

    def page(
        self,
        request: HttpRequest,
        asked_scopes: list[str],
        credentials: dict[str, Any],
        *,
        status: int = 200,
        error: str = "",
    ) -> HttpResponse:
        switch = f"{addresses.sign_in_page_from_api(self.address, again=True)}&else=1"
        application, uri = credentials["request"].client, credentials["redirect_uri"]
        shown = shown_to_user(application, uri=uri, asked_scopes=asked_scopes, companies=choices(request, asked_scopes))
        shown |= {"signed_in": sessions.auth_time(request), "place": request.session.get("address", "")}
        context = shown | {"error": error, "form_action": self.address, "switch": switch}
        return render(request, "oauth/consent.html", context, status=status)

    def to_sign_in(self, *, ask: bool) -> HttpResponse:
        """The sign-in page, which comes back here; the app's guess of the user's name is filled in."""
        address = addresses.sign_in_page_from_api(f"{asking.PATH}?{self.query}")
        if self.request.user.is_authenticated:
            address += "&again=1"
        hint = f"&username={quote(self.asked['login_hint'], safe='')}" if "login_hint" in self.asked else ""
        if len(address + hint) <= addresses.LONGEST:
            address += hint
        response = redirect(address)
        response["Cache-Control"] = "no-store"
        if ask:
            asking.ask_to_sign_in(response, self.request, query=self.query, now=timezone.now())
        return response

    def error_response(self, error: OAuthToolkitError, application: Any, **kwargs: Any) -> HttpResponse:
        """Told to the user where there is no app to tell it to, else to the app, at its own address."""
        told = error.oauthlib_error
        if isinstance(error, FatalClientError):
            of_app = isinstance(told, errors.InvalidClientIdError | errors.MissingClientIdError)
            return unanswerable(self.request, UNKNOWN_APP if of_app else UNKNOWN_ADDRESS)
        application = Application.objects.get(client_id=self.asked["client_id"])
        return self.redirect(asking.answer_uri(f"?{told.urlencoded}", told.redirect_uri), application)

    def redirect(self, redirect_to: str, application: Application) -> HttpResponse:
        response = super().redirect(redirect_to, application)
        if self.request.method == "POST":
            response.status_code = 303  # the browser must not send the decision on to the app (RFC 9700, 4.12)
        response["Cache-Control"] = "no-store"
        return response


def refuse(credentials: dict[str, Any], error: str, description: str) -> NoReturn:
    """The app is told. Raises OAuthToolkitError."""
    told = errors.CustomOAuth2Error(error, description=description, request=credentials["request"])
    raise OAuthToolkitError(error=told)


def shown_to_user(
    application: Application, *, uri: str, asked_scopes: list[str], companies: list[dict[str, Any]]
) -> dict[str, Any]:
    """What the consent page says: who asks, for what, and where the user goes next."""
    possible = [each for each in companies if each["possible"]]
    if len(possible) == 1:
        possible[0]["chosen"] = True
    return {
        "application": application,
        "destination": redirects.shown(uri),
        "companies": companies,
        "possible": possible,
        "able": [{"sentence": scopes.SENTENCES[scope], "writes": scope == scopes.WRITE} for scope in asked_scopes],
        "reads": scopes.READ in asked_scopes,
        "writes": scopes.WRITE in asked_scopes,
    }


def choices(request: HttpRequest, asked_scopes: list[str]) -> list[dict[str, Any]]:
    """The user's companies, each with whether there is anything to give for these scopes."""
    accesses = SessionCredential(user=person(request)).accesses()
    return [
        {
            "id": str(a.company.id),
            "access": a,
            "possible": consents.grantable(a, asked_scopes, snapshot=a.permissions),
            "chosen": False,
        }
        for a in accesses
    ]


def unanswerable(request: HttpRequest, why: str) -> HttpResponse:
    return render(request, "oauth/unanswerable.html", {"why": _(why)}, status=400)


# ---------------------------------------------------------------------------------------------- Settings


@require_safe
@signed_in
def settings_page(request: HttpRequest, company_id: str) -> HttpResponse:
    """API keys and connected apps of a company: one's own, and everyone's for those who manage them."""
    access = reached(request, company_id)
    context = key_settings(request, access)
    context["apps"] = shown_apps(request, access)
    context["manages_apps"] = Permission.APPS_MANAGE in access.permissions
    response = render(request, "settings/api_keys.html", context)
    response["Cache-Control"] = "no-store"
    return response


def shown_apps(request: HttpRequest, access: Access) -> Any:
    rows = ConsentGrant.objects.of(access.company.id)
    shown = rows if Permission.APPS_MANAGE in access.permissions else rows.filter(user_id=person(request).pk)
    found = consents.connections(shown)
    for each in found:
        each.able = [(scope, scopes.SENTENCES[scope]) for scope in each.scopes]  # type: ignore[attr-defined]
    return found


@require_POST
@signed_in
def disconnect(request: HttpRequest, company_id: str, consent_id: UUID) -> HttpResponse:
    """Ends a consent: the app's next request is refused."""
    access = reached(request, company_id)
    consent = ConsentGrant.objects.of(access.company.id).live().filter(id=consent_id).first()
    if consent is None:
        raise Http404
    if consent.user_id != person(request).pk and Permission.APPS_MANAGE not in access.permissions:
        raise PermissionDenied
    visit = Visit(request=request, access=access, now=timezone.now())
    with visit.sending():
        consents.disconnect(consent, stamp=visit.stamp)
    return redirect(f"/app/companies/{company_id}/settings/api-keys#apps")
