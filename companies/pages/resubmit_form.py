"""Page to submit a form that was interrupted by step-up authentication."""

from urllib.parse import urlsplit

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import resolve
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET

from companies.auth import pending_form
from companies.pages.context import CompanyPage, get_access_or_404, redirect_unless_recent_login, require_sign_in
from companies.pages.user.sign_in import get_safe_next


@require_GET  # HEAD would remove the form
@require_sign_in
def resubmit_form_page(request: HttpRequest) -> HttpResponse:
    """Ask whether to submit the stored form to its original URL; shown once."""
    if login_redirect := redirect_unless_recent_login(request, next_path=request.get_full_path()):
        return login_redirect
    next_path, form = get_safe_next(request), pending_form.pop_pending_form(request)
    if form is None:
        messages.info(request, _("Your input is no longer available. Fill in the form again if it was not submitted."))
        return redirect(next_path)
    context = {"form": form, "then": next_path}
    company_id = resolve(urlsplit(form["address"]).path).kwargs.get("company_id")
    if company_id is None:
        response = render(request, "companies/resubmit_form.html", context)
    else:
        page = CompanyPage(request=request, access=get_access_or_404(request, company_id), now=timezone.now())
        response = page.render("companies/resubmit_form.html", section="send-again", **context)
    response["Cache-Control"] = "no-store"
    return response
