"""Pages of sign-up, with SIGN_UP=open: a form for the address, and the account behind the mailed link."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_http_methods

from companies.actions import sign_up
from companies.auth import passwords, sessions
from companies.locales import get_current_locale
from companies.models import AuditContext
from companies.pages.context import HOME_PATH, handle_form_errors
from companies.pages.forms import BoundForm, bind_form
from companies.pages.user.forms import InvitedUserForm
from companies.serializers import NewMember


def require_open_sign_up(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
    """Answer 404 unless everybody may sign up; redirect signed-in users to their companies."""

    @wraps(view)
    def check_sign_up(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        if settings.SIGN_UP != "open":
            raise Http404
        if request.user.is_authenticated:
            return redirect(HOME_PATH)
        response = view(request, *args, **kwargs)
        response["Cache-Control"] = "no-store"
        return response

    return check_sign_up


@require_http_methods(["GET", "HEAD", "POST"])
@require_open_sign_up
def sign_up_page(request: HttpRequest) -> HttpResponse:
    """Mail a link to create an account; the response is the same for addresses that have one."""
    if request.method != "POST":
        return render(request, "companies/sign_up.html")
    passwords.count_sign_in_attempt(request)
    form = bind_form(NewMember, request.POST, texts=("email",), partial=True)
    if not form.is_valid:
        return render(request, "companies/sign_up.html", {"form": form}, status=400)
    context = AuditContext(time=timezone.now(), request_id=getattr(request, "request_id", ""))
    sign_up.request_sign_up(email=form.data["email"], locale=get_current_locale(), context=context)
    return render(request, "companies/sign_up.html", {"is_sent": True})


@require_http_methods(["GET", "HEAD", "POST"])
@require_open_sign_up
def create_account_page(request: HttpRequest, token: str) -> HttpResponse:
    """Create the account of a mailed link and sign in; mail programs open links on their own, so a button does it."""
    error_form = BoundForm(values={})
    if request.method == "POST":
        passwords.count_sign_in_attempt(request)
    with handle_form_errors(request, error_form):
        user = sign_up.get_user_to_sign_up(token)
        form = InvitedUserForm(user, request.POST if request.method == "POST" else None)
        if request.method == "POST" and form.is_valid():
            account = form.build_user()
            sign_up.create_signed_up_user(account)
            sessions.sign_in_user(request, account, now=timezone.now())
            return redirect(HOME_PATH)
        context = {"form": form, "email": user.email}
        return render(request, "companies/sign_up_account.html", context, status=400 if form.is_bound else 200)
    return render(request, "companies/sign_up_account.html", {"ended": error_form.general}, status=410)
