"""The person's own profile: what they are called, where mails go, and how amounts and days are written."""

from typing import Any

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST

from companies.locales import NAMES, accepted, locale, locale_of, reading_as
from companies.membership import members
from companies.models import EmailChange, User
from companies.names import name_in
from companies.pages.typed import Typed
from companies.pages.visits import page_stamp, person, prove_again, sending, signed_in
from companies.security import readdressing

LONGEST_NAME = 200


@require_http_methods(["GET", "HEAD", "POST"])
@signed_in
def profile(request: HttpRequest) -> HttpResponse:
    """Shows the profile; the form changes the name and the locale."""
    user = person(request)
    if request.method != "POST":
        return shown(request, Typed(values={"name": user.name, "locale": user.locale}))
    form = read(request)
    if form.errors:
        return shown(request, form)
    with sending(request, form):
        members.describe(user=user, name=form.data["name"], locale=form.data["locale"], stamp=page_stamp(request))
        with reading_as(locale_of(request)):  # the one that was just chosen
            messages.success(request, _("Your profile was saved."))
        return redirect("profile")
    return shown(request, form)


def read(request: HttpRequest) -> Typed:
    """What was typed: no name is a name, for then people are called by their address."""
    form = Typed(values={name: request.POST.get(name, "").strip() for name in ("name", "locale")})
    form.data = dict(form.values)
    try:
        form.data["name"] = name_in(form.values["name"], longest=LONGEST_NAME) if form.values["name"] else ""
    except ValidationError:
        form.errors["name"] = _("A name has at most {most} characters, on one line.").format(most=LONGEST_NAME)
    if form.values["locale"] not in {"", *NAMES}:
        form.errors["locale"] = _("Choose one of the list.")
    return form


def shown(request: HttpRequest, form: Typed | None = None, moving: Typed | None = None) -> HttpResponse:
    user = person(request)
    form = form or Typed(values={"name": user.name, "locale": user.locale})
    moving = moving or Typed(values={"email": ""})
    context: dict[str, Any] = {
        "form": form,
        "moving": moving,
        "locales": [(tag, f"{name}: {locale(tag).example}") for tag, name in NAMES.items()],
        "browsers": accepted(request.headers.get("Accept-Language", "")).example,
        "waiting": EmailChange.objects.filter(user=user, expires_time__gt=timezone.now()).first(),
    }
    status = 400 if form.errors or moving.errors else 200
    return render(request, "companies/profile.html", context, status=status)


@require_POST
@signed_in
def change_email(request: HttpRequest) -> HttpResponse:
    """Asks for another address, after a recent proof of who it is."""
    form = Typed(values={"email": request.POST.get("email", "").strip()})
    asks = _("Ask for {email} as your new e-mail address.")
    if again := prove_again(request, then=reverse("profile"), asks=lambda: asks.format(**form.values)):
        return again
    try:
        User._meta.get_field("email").clean(form.values["email"], None)
    except ValidationError:
        form.errors["email"] = _("Write an e-mail address such as anna@example.com.")
        return shown(request, moving=form)
    with sending(request, form):
        readdressing.ask(user=person(request), email=form.values["email"], stamp=page_stamp(request))
        told = _(
            "If {email} can be yours, a link is on its way there. It holds for a day. "
            "Until you open it, nothing changes."
        )
        messages.success(request, told.format(email=form.values["email"]))
        return redirect("profile")
    return shown(request, moving=form)


@require_http_methods(["GET", "HEAD", "POST"])
@signed_in
def confirm_email(request: HttpRequest, token: str) -> HttpResponse:
    """Behind the mailed link: a page with a button, for programs that read mails open links too."""
    user, stamp = person(request), page_stamp(request)
    try:
        if request.method == "POST":
            new = readdressing.confirm(user=user, token=token, request=request, stamp=stamp)
            messages.success(request, _("Your e-mail address is {email} now.").format(email=new))
            return redirect("profile")
        row = readdressing.asked(user=user, token=token, stamp=stamp)
    except readdressing.ChangeEnded:
        told = _("This link has ended, or is for another account than {email}.")
        messages.error(request, told.format(email=user.email))
        return redirect("profile")
    response = render(request, "companies/confirm_email.html", {"row": row})
    response["Referrer-Policy"] = "no-referrer"
    return response
