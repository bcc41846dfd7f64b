"""The consent page, and Settings → API keys, where people see and end what lets programs in."""

from collections.abc import Iterable
from typing import Any
from urllib.parse import quote
from uuid import UUID

from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.csrf import csrf_exempt, csrf_protect
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from companies import addresses, sessions
from companies.access import Access
from companies.authentication import SessionCredential
from companies.pages.keys import key_settings
from companies.pages.visits import Visit, page_stamp, person, reached, signed_in
from companies.permissions import Permission
from oauth import authorization, consents, redirects, scopes
from oauth.authorization import Refused, Target, Unanswerable, Wish
from oauth.models import ConsentGrant, RevokedReason

ALLOW, DENY = "allow", "deny"
FORM = "application/x-www-form-urlencoded"


class Redirect(HttpResponse):
    """To an app, whatever its scheme."""

    status_code = 302

    def __init__(self, uri: str):
        super().__init__(headers={"Location": uri, "Cache-Control": "no-store"})


@csrf_exempt
@require_http_methods(["GET", "HEAD", "POST"])
def authorize(request: HttpRequest) -> HttpResponse:
    """An app asks; the user signs in, picks a company and decides."""
    if request.method != "POST":
        return considered(request)
    if "decision" in request.POST or "csrfmiddlewaretoken" in request.POST:
        return protected(request)
    if request.content_type != FORM:
        return unanswerable(request, f"A request that is posted must be {FORM}.")
    # An app sent the request itself as a form (OpenID Connect Core, 3.1.2.1): it goes on as any other.
    body = request.META.get("QUERY_STRING", "") + "&" + request.body.decode("latin-1")
    response = HttpResponse(status=303)
    response["Location"] = f"{authorization.PATH}?{quote(body.strip('&'), safe='%&=+')}"
    response["Cache-Control"] = "no-store"
    return response


@csrf_protect
def protected(request: HttpRequest) -> HttpResponse:
    """The user's decision, which must come from our own page."""
    return considered(request)


def considered(request: HttpRequest) -> HttpResponse:
    query = request.META.get("QUERY_STRING", "")
    try:
        target, parameters = authorization.target_of(query)
    except Unanswerable as error:
        return unanswerable(request, str(error))
    # An anonymous user signs in before anything is sent to the app, a refusal too: a made-up request must not turn this
    # address into a redirector (RFC 9700, 4.11.2).
    silent = "none" in parameters.get("prompt", "").split()
    if not request.user.is_authenticated and not silent:
        if "prompt" in parameters or "max_age" in parameters:
            authorization.ask_to_sign_in(request.session, query=query, now=timezone.now())
        return to_sign_in(request, parameters, query=query)
    try:
        return weighed(request, target, authorization.wish_of(parameters, target.application), parameters, query)
    except Refused as refusal:
        return refused(target, refusal)


def weighed(request: HttpRequest, target: Target, wish: Wish, parameters: dict[str, str], query: str) -> HttpResponse:
    """A sound request. Raises Refused."""
    now = timezone.now()
    if wish.silent and not request.user.is_authenticated:
        raise Refused("login_required", "Nobody is signed in.")
    deciding = request.method == "POST"
    if not authorization.fresh_enough(wish, request.session, query=query, now=now, deciding=deciding):
        if wish.silent:
            raise Refused("login_required", "The sign-in is older than max_age.")
        authorization.ask_to_sign_in(request.session, query=query, now=now)
        return to_sign_in(request, parameters, query=query)
    if wish.hinted_user not in (None, str(person(request).pk)):
        raise Refused("login_required", "Somebody else is signed in.")
    if wish.silent:
        return silently(request, target, wish)
    return decided(request, target, wish, query) if deciding else consent_page(request, target, wish)


def silently(request: HttpRequest, target: Target, wish: Wish) -> HttpResponse:
    """prompt=none: a code on the strength of a consent that stands. Only for https, where the app's name is proven."""
    if not target.redirect_uri.startswith("https://"):
        raise Refused("consent_required", "The user must be asked.")
    asked = wish.scopes
    consent = consents.standing(application=target.application, user_id=person(request).pk, asked=asked)
    if consent is None:
        raise Refused("consent_required", "The user must be asked.")
    return with_code(request, target, wish, consent)


def decided(request: HttpRequest, target: Target, wish: Wish, query: str) -> HttpResponse:
    """What the user pressed. Raises Refused."""
    decision = request.POST.get("decision")
    if decision == DENY:
        authorization.forget_sign_in(request.session, query=query)
        raise Refused("access_denied", "The user refused.")
    chosen = [each for each in choices(request, wish) if each["id"] == request.POST.get("company")]
    if decision != ALLOW or not chosen or not chosen[0]["possible"]:
        return consent_page(request, target, wish, status=400, error="Choose the company to give access to.")
    authorization.forget_sign_in(request.session, query=query)
    with transaction.atomic():
        consent = consents.give(
            application=target.application,
            access=chosen[0]["access"],
            user_id=person(request).pk,
            asked=wish.scopes,
            auth_time=sessions.auth_time(request),
            stamp=page_stamp(request),
        )
        return with_code(request, target, wish, consent)


def with_code(request: HttpRequest, target: Target, wish: Wish, consent: ConsentGrant) -> HttpResponse:
    code = consents.new_code(
        consent=consent,
        asked=wish.scopes,
        redirect_uri=target.redirect_uri,
        challenge=wish.challenge,
        nonce=wish.nonce,
        auth_time=sessions.auth_time(request),
        now=timezone.now(),
    )
    return Redirect(authorization.answer_uri(target, {"code": code}))


def refused(target: Target, refusal: Refused) -> HttpResponse:
    values = {"error": refusal.error, "error_description": refusal.description}
    return Redirect(authorization.answer_uri(target, values))


def to_sign_in(request: HttpRequest, parameters: dict[str, str], *, query: str) -> HttpResponse:
    """The sign-in page, which comes back here; the app's guess of the user's name is filled in."""
    address = addresses.sign_in_page_from_api(f"{authorization.PATH}?{query}")
    if request.user.is_authenticated:
        address += "&again=1"
    if "login_hint" in parameters:
        address += f"&username={quote(parameters['login_hint'][:254], safe='')}"
    response = redirect(address)
    response["Cache-Control"] = "no-store"
    return response


def consent_page(
    request: HttpRequest, target: Target, wish: Wish, *, status: int = 200, error: str = ""
) -> HttpResponse:
    companies = choices(request, wish)
    possible = [each for each in companies if each["possible"]]
    if len(possible) == 1:
        possible[0]["chosen"] = True
    switch = addresses.sign_in_page_from_api(request.get_full_path(), again=True)
    context = {
        "application": target.application,
        "destination": redirects.shown(target.redirect_uri),
        "companies": companies,
        "possible": possible,
        "able": [{"sentence": scopes.SENTENCES[scope], "writes": scope == scopes.WRITE} for scope in wish.scopes],
        "reads": scopes.READ in wish.scopes,
        "writes": scopes.WRITE in wish.scopes,
        "error": error,
        "form_action": request.get_full_path(),
        "switch": switch,
    }
    response = render(request, "oauth/consent.html", context, status=status)
    return guarded(response, [redirects.form_target(target.redirect_uri), *addresses.origins_on_the_way(switch)])


def choices(request: HttpRequest, wish: Wish) -> list[dict[str, Any]]:
    """The user's companies, each with whether there is anything to give for these scopes."""
    accesses = SessionCredential(user=person(request)).accesses()
    return [
        {"id": str(a.company.id), "access": a, "possible": consents.grantable(a, wish.scopes), "chosen": False}
        for a in accesses
    ]


def unanswerable(request: HttpRequest, why: str) -> HttpResponse:
    return guarded(render(request, "oauth/unanswerable.html", {"why": why}, status=400), [])


def guarded(response: HttpResponse, targets: Iterable[str]) -> HttpResponse:
    """Never kept, never framed; its form may lead to the app that asked, and nowhere else."""
    response["Cache-Control"] = "no-store"
    response["Referrer-Policy"] = "same-origin"
    response._csp_update = {"form-action": list(targets)}  # type: ignore[attr-defined]
    return response


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
    rows = ConsentGrant.objects.of(access.company.id).connected()
    return rows if Permission.APPS_MANAGE in access.permissions else rows.filter(user_id=person(request).pk)


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
    with visit.change():
        consents.revoke(consent, reason=RevokedReason.USER, stamp=visit.stamp)
    return redirect(f"/app/companies/{company_id}/settings/api-keys#apps")
