"""Profile of the signed-in user: name, e-mail address, locale."""

from typing import Any

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST

from companies.actions import email_change, members
from companies.locales import LOCALE_NAMES, get_locale, get_request_locale, parse_accept_language, use_locale
from companies.models import EmailChange, User
from companies.names import parse_name
from companies.pages.context import (
    build_audit_context,
    get_signed_in_user,
    handle_form_errors,
    redirect_unless_recent_login,
    require_sign_in,
)
from companies.pages.forms import BoundForm

MAX_NAME_LENGTH = 200


@require_http_methods(["GET", "HEAD", "POST"])
@require_sign_in
def edit_profile_page(request: HttpRequest) -> HttpResponse:
    """Show the profile; the form changes name and locale."""
    user = get_signed_in_user(request)
    if request.method != "POST":
        return render_profile(request, BoundForm(values={"name": user.name, "locale": user.locale}))
    form = parse_profile_form(request)
    if form.errors:
        return render_profile(request, form)
    with handle_form_errors(request, form):
        members.update_user_profile(
            user=user, name=form.data["name"], locale=form.data["locale"], context=build_audit_context(request)
        )
        with use_locale(get_request_locale(request)):  # in the new language
            messages.success(request, _("Profile saved."))
        return redirect("profile")
    return render_profile(request, form)


def parse_profile_form(request: HttpRequest) -> BoundForm:
    """Validate the profile form. An empty name is allowed: the e-mail address is shown instead."""
    form = BoundForm(values={name: request.POST.get(name, "").strip() for name in ("name", "locale")})
    form.data = dict(form.values)
    try:
        form.data["name"] = parse_name(form.values["name"], max_length=MAX_NAME_LENGTH) if form.values["name"] else ""
    except ValidationError:
        form.errors["name"] = _("Enter a name of at most {most} characters on a single line.").format(
            most=MAX_NAME_LENGTH
        )
    if form.values["locale"] not in {"", *LOCALE_NAMES}:
        form.errors["locale"] = _("Choose an option from the list.")
    return form


def render_profile(
    request: HttpRequest, form: BoundForm | None = None, email_form: BoundForm | None = None
) -> HttpResponse:
    """Render the profile."""
    user = get_signed_in_user(request)
    form = form or BoundForm(values={"name": user.name, "locale": user.locale})
    email_form = email_form or BoundForm(values={"email": ""})
    context: dict[str, Any] = {
        "form": form,
        "moving": email_form,
        "locales": [(tag, f"{name}: {get_locale(tag).example}") for tag, name in LOCALE_NAMES.items()],
        "browsers": parse_accept_language(request.headers.get("Accept-Language", "")).example,
        "waiting": EmailChange.objects.filter(user=user, expires_time__gt=timezone.now()).first(),
    }
    status = 400 if form.errors or email_form.errors else 200
    return render(request, "companies/profile.html", context, status=status)


@require_POST
@require_sign_in
def request_email_change_page(request: HttpRequest) -> HttpResponse:
    """Request a new e-mail address; needs a recent sign-in."""
    form = BoundForm(values={"email": request.POST.get("email", "").strip()})
    label_text = _("Change your email address to {email}.")
    if login_redirect := redirect_unless_recent_login(
        request, next_path=reverse("profile"), get_action_label=lambda: label_text.format(**form.values)
    ):
        return login_redirect
    try:
        User._meta.get_field("email").clean(form.values["email"], None)
    except ValidationError:
        form.errors["email"] = _("Enter an email address such as anna@example.com.")
        return render_profile(request, email_form=form)
    with handle_form_errors(request, form):
        email_change.request_email_change(
            user=get_signed_in_user(request), email=form.values["email"], context=build_audit_context(request)
        )
        message = _("We sent a confirmation link to {email}, valid for one day. Your address changes when you open it.")
        messages.success(request, message.format(email=form.values["email"]))
        return redirect("profile")
    return render_profile(request, email_form=form)


@require_http_methods(["GET", "HEAD", "POST"])
@require_sign_in
def confirm_email_change_page(request: HttpRequest, token: str) -> HttpResponse:
    """Confirm the new address with a button: mail programs open links on their own."""
    user, context = get_signed_in_user(request), build_audit_context(request)
    try:
        if request.method == "POST":
            new_email = email_change.confirm_email_change(user=user, token=token, request=request, context=context)
            messages.success(request, _("Email address changed to {email}.").format(email=new_email))
            return redirect("profile")
        row = email_change.get_pending_email_change(user=user, token=token, context=context)
    except email_change.EmailChangeEnded:
        message = _("This link has expired or does not belong to {email}.")
        messages.error(request, message.format(email=user.email))
        return redirect("profile")
    return render(request, "companies/confirm_email.html", {"row": row})
