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
from companies.pages.context import CompanyReadOnly, InvalidListPage, MfaRequired

PAGE_PREFIXES = ("/app", "/admin", "/auth/oauth2/authorize")


def show_not_found_page(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Show the 404 page, or the problem body for API clients; paths below /docs serve both."""
    is_documentation = request.path.startswith("/docs")
    if request.path.startswith(PAGE_PREFIXES) or (
        is_documentation and "text/html" in request.headers.get("Accept", "")
    ):
        page_context = {"title": _("Page not found"), "text": _(errors.NOT_FOUND_TEXT)}
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
        _("An unexpected error occurred. Contact support with this number: {number}").format(number=request_number),
    )
    if answer.status_code != 500:
        title, text = _("Service unavailable"), _("The service is temporarily unavailable. Try again in a minute.")
    if answer.status_code == errors.QUERY_TIMEOUT[0] and errors.is_query_timeout(sys.exception()):
        title, text = _("Request timed out"), _("Choose a shorter period or fewer rows and try again.")
    if answer.status_code == errors.CONCURRENT_CHANGE[0]:
        title, text = _("Try again"), _("Another change to this company is in progress. Nothing was saved.")
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
        text = _("You have sent too many requests. Wait a moment and reload the page.")
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
    text = _("Your role does not allow this. Ask an owner for access.")
    if isinstance(exception, CompanyReadOnly):
        text = _("This company is read-only because its trial or subscription has ended. Nothing was saved.")
    if isinstance(exception, MfaRequired):
        return render(request, "companies/mfa_required.html", status=403)
    return render(request, "companies/error.html", {"title": _("Access denied"), "text": text}, status=403)


def show_bad_request_page(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Show the page for a form that cannot be read or is too large, or for a page of a list that does not exist."""
    answer = errors.respond_bad_request(request, exception)
    if not request.path.startswith(PAGE_PREFIXES):
        return answer
    if isinstance(exception, InvalidListPage):
        text = _("This page of the list does not exist. Open the list again from the start.")
        return render(request, "companies/error.html", {"title": _("Invalid request"), "text": text}, status=400)
    is_too_large = isinstance(exception, RequestDataTooBig | TooManyFieldsSent | TooManyFilesSent)
    if is_too_large:
        text = _("The form contains too much data. Nothing was saved.")
    else:
        text = _("The form could not be read. Nothing was saved.")
    return render_refused_body_page(request, status=413 if is_too_large else 400, text=text)


def render_refused_body_page(request: HttpRequest, *, status: int, text: str) -> HttpResponse:
    """Render the page for a rejected body, without looking at body or user."""
    title = _("Too large") if status == 413 else _("Invalid request")
    page = render_to_string("companies/error.html", {"title": title, "text": text})
    return HttpResponse(page, status=status)


def show_csrf_failure_page(request: HttpRequest, reason: str = "") -> HttpResponse:
    """Show the page for a missing or invalid CSRF token."""
    text = _("This page has expired. Nothing was saved. Go back, reload the page and try again.")
    return render(request, "companies/error.html", {"title": _("Try again"), "text": text}, status=403)
