"""Error pages for browsers; API clients get the problem body."""

import sys

from django.core.exceptions import RequestDataTooBig, TooManyFieldsSent, TooManyFilesSent
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.template.loader import render_to_string
from django.utils.cache import patch_vary_headers
from django.utils.translation import gettext as _

from companies.api import errors
from companies.api.request_slots import TooManyInWork
from companies.auth.throttling import RateLimited
from companies.pages.context import CompanyReadOnly, MfaRequired

PAGE_PREFIXES = ("/app", "/admin", "/auth/oauth2/authorize")


def show_not_found_page(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Show the 404 page, or the problem body for API clients; paths below /docs serve both."""
    is_documentation = request.path.startswith("/docs")
    if request.path.startswith(PAGE_PREFIXES) or (
        is_documentation and "text/html" in request.headers.get("Accept", "")
    ):
        page_context = {"title": _("Nothing here"), "text": _(errors.NOT_FOUND_TEXT)}
        answer = render(request, "companies/error.html", page_context, status=404)
    else:
        answer = errors.respond_not_found(request, exception)
    if is_documentation:
        patch_vary_headers(answer, ["Accept"])
    return answer


def show_server_error_page(request: HttpRequest) -> HttpResponse:
    """Show the 500 page, rendered without the database."""
    answer = errors.respond_server_error(request)
    if not request.path.startswith(PAGE_PREFIXES):
        return answer
    request_number = request.request_id  # type: ignore[attr-defined]
    title, text = (
        _("Something went wrong"),
        _("It is our fault. Tell us this number: {number}").format(number=request_number),
    )
    if answer.status_code != 500:
        title, text = _("Out of order"), _("Something that we need does not answer. Please try again in a minute.")
    if answer.status_code == errors.QUERY_TIMEOUT[0] and errors.is_query_timeout(sys.exception()):
        title, text = _("This took too long"), _("Choose a shorter period or fewer rows, then try again.")
    if answer.status_code == errors.CONCURRENT_CHANGE[0]:
        title, text = _("Please try again"), _("Another change of this company is still running. Nothing was changed.")
    page = HttpResponse(render_to_string("companies/error.html", {"title": title, "text": text}))
    page.status_code = answer.status_code
    if "Retry-After" in answer:
        page["Retry-After"] = answer["Retry-After"]
    return page


def show_too_many_requests_page(request: HttpRequest, exception: Exception) -> HttpResponse | None:
    """Return the 429 response for rate limits, None for other exceptions. Does not use the database."""
    if not isinstance(exception, RateLimited | TooManyInWork):
        return None
    if request.path.startswith(PAGE_PREFIXES):
        text = _("You are sending requests faster than we answer them. Wait a moment, then reload the page.")
        title = _("Too many requests")
        response = HttpResponse(render_to_string("companies/error.html", {"title": title, "text": text}), status=429)
    else:
        response = errors.build_problem_response(request, status=429, code=exception.code, detail=exception.detail)
    response["Retry-After"] = str(exception.wait)
    response["Cache-Control"] = "no-store"
    return response


def show_permission_denied_page(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Show the 403 page with its reason."""
    if not request.path.startswith(PAGE_PREFIXES):
        return errors.respond_permission_denied(request, exception)
    text = _("Your role in this company does not allow this. An owner can change that.")
    if isinstance(exception, CompanyReadOnly):
        text = _("The company is read-only: its trial or its subscription has ended. Nothing was changed.")
    if isinstance(exception, MfaRequired):
        return render(request, "companies/mfa_required.html", status=403)
    return render(request, "companies/error.html", {"title": _("Not allowed"), "text": text}, status=403)


def show_bad_request_page(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Show the page for a form that cannot be read or is too large."""
    answer = errors.respond_bad_request(request, exception)
    if not request.path.startswith(PAGE_PREFIXES):
        return answer
    is_too_large = isinstance(exception, RequestDataTooBig | TooManyFieldsSent | TooManyFilesSent)
    if is_too_large:
        text = _("The form has more fields, or more text, than we take at once. Nothing was stored.")
    else:
        text = _("The form could not be read. Nothing was stored.")
    return render_refused_body_page(request, status=413 if is_too_large else 400, text=text)


def render_refused_body_page(request: HttpRequest, *, status: int, text: str) -> HttpResponse:
    """Render the page for a rejected body, without looking at body or user."""
    title = _("Too large") if status == 413 else _("Not readable")
    page = render_to_string("companies/error.html", {"title": title, "text": text})
    return HttpResponse(page, status=status)


def show_csrf_failure_page(request: HttpRequest, reason: str = "") -> HttpResponse:
    """Show the page for a missing or invalid CSRF token."""
    text = _(
        "This form was not sent from a current page of ours, so nothing was changed. Go back, reload, and try again."
    )
    return render(request, "companies/error.html", {"title": _("Please try again"), "text": text}, status=403)
