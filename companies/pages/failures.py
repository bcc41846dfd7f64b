"""The pages of what went wrong: for people; programs get the usual body."""

import sys

from django.core.exceptions import RequestDataTooBig, TooManyFieldsSent, TooManyFilesSent
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.template.loader import render_to_string
from django.utils.cache import patch_vary_headers
from django.utils.translation import gettext as _

from companies.api import errors
from companies.api.concurrency import TooManyInWork
from companies.api.throttling import RateLimited
from companies.pages.visits import FactorNeeded, ReadOnly

PAGES = ("/app", "/admin", "/auth/oauth2/authorize")


def page_not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    """A page for people, the usual body for programs; both look for what the documentation has not."""
    documentation = request.path.startswith("/docs")
    if request.path.startswith(PAGES) or (documentation and "text/html" in request.headers.get("Accept", "")):
        here = {"title": _("Nothing here"), "text": _(errors.NOT_FOUND)}
        answer = render(request, "companies/error.html", here, status=404)
    else:
        answer = errors.page_not_found(request, exception)
    if documentation:
        patch_vary_headers(answer, ["Accept"])
    return answer


def server_error(request: HttpRequest) -> HttpResponse:
    """Written without what may have failed: a page of its own, without the database."""
    answer = errors.server_error(request)
    if not request.path.startswith(PAGES):
        return answer
    number = request.request_id  # type: ignore[attr-defined]
    title, text = _("Something went wrong"), _("It is our fault. Tell us this number: {number}").format(number=number)
    if answer.status_code != 500:
        title, text = _("Out of order"), _("Something that we need does not answer. Please try again in a minute.")
    if answer.status_code == errors.TIMED_OUT[0] and errors.is_timeout(sys.exception()):
        title, text = _("This took too long"), _("Choose a shorter period or fewer rows, then try again.")
    if answer.status_code == errors.RACE[0]:
        title, text = _("Please try again"), _("Another change of this company is still running. Nothing was changed.")
    page = HttpResponse(render_to_string("companies/error.html", {"title": title, "text": text}))
    page.status_code = answer.status_code
    if "Retry-After" in answer:
        page["Retry-After"] = answer["Retry-After"]
    return page


def too_many(request: HttpRequest, exception: Exception) -> HttpResponse | None:
    """The page that says to wait; the body of errors for programs. It asks the database nothing."""
    if not isinstance(exception, RateLimited | TooManyInWork):
        return None
    if request.path.startswith(PAGES):
        text = _("You are sending requests faster than we answer them. Wait a moment, then reload the page.")
        title = _("Too many requests")
        response = HttpResponse(render_to_string("companies/error.html", {"title": title, "text": text}), status=429)
    else:
        response = errors.plain(request, status=429, code=exception.code, detail=exception.detail)
    response["Retry-After"] = str(exception.wait)
    response["Cache-Control"] = "no-store"
    return response


def permission_denied(request: HttpRequest, exception: Exception) -> HttpResponse:
    if not request.path.startswith(PAGES):
        return errors.permission_denied(request, exception)
    text = _("Your role in this company does not allow this. An owner can change that.")
    if isinstance(exception, ReadOnly):
        text = _("The company is read-only: its trial or its subscription has ended. Nothing was changed.")
    if isinstance(exception, FactorNeeded):
        return render(request, "companies/factor_needed.html", status=403)
    return render(request, "companies/error.html", {"title": _("Not allowed"), "text": text}, status=403)


def unreadable(request: HttpRequest, exception: Exception) -> HttpResponse:
    """A form that is no form, or has more fields or text than any of ours."""
    answer = errors.bad_request(request, exception)
    if not request.path.startswith(PAGES):
        return answer
    large = isinstance(exception, RequestDataTooBig | TooManyFieldsSent | TooManyFilesSent)
    if large:
        text = _("The form has more fields, or more text, than we take at once. Nothing was stored.")
    else:
        text = _("The form could not be read. Nothing was stored.")
    return not_taken(request, status=413 if large else 400, text=text)


def not_taken(request: HttpRequest, *, status: int, text: str) -> HttpResponse:
    """What was sent was not looked at: nor is who sent it."""
    title = _("Too large") if status == 413 else _("Not readable")
    page = render_to_string("companies/error.html", {"title": title, "text": text})
    return HttpResponse(page, status=status)


def form_refused(request: HttpRequest, reason: str = "") -> HttpResponse:
    """A form without our token: sent by another site, or from a page that stood open across a sign-in."""
    text = _(
        "This form was not sent from a current page of ours, so nothing was changed. Go back, reload, and try again."
    )
    return render(request, "companies/error.html", {"title": _("Please try again"), "text": text}, status=403)
