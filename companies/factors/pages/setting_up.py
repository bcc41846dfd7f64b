"""What somebody has set up, adding to it and taking away. Each change asks for a recent proof."""

from typing import Any
from uuid import UUID

import segno
from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from companies.callers import sessions
from companies.errors import Invalid
from companies.factors import calc, keeping, passkeys, proving, steps
from companies.models import Passkey, RecoveryCode, Stamp, User
from companies.names import name_in
from companies.pages.typed import Typed
from companies.pages.visits import Page, page_stamp, person, prove_again, sending, signed_in

LONGEST_NAME = 100
ADDING = "add"  # the purpose of a challenge


def sensitive(page: Page) -> Page:
    """A page for those who proved lately who they are; others do that first, and come back to the list."""

    @signed_in
    def view(request: HttpRequest, **kwargs: Any) -> HttpResponse:
        response = prove_again(request, then=reverse("factors")) or page(request, **kwargs)
        response["Cache-Control"] = "no-store"
        return response

    return view


@require_safe
@signed_in
def everything(request: HttpRequest) -> HttpResponse:
    """What the person has set up."""
    return listed(request, Typed(values={"name": ""}))


def listed(request: HttpRequest, form: Typed) -> HttpResponse:
    user = person(request)
    context = {
        "app": keeping.app_of(user),
        "passkeys": Passkey.objects.of(user.pk).order_by("created_time"),
        "codes": RecoveryCode.objects.of(user.pk).count(),
        "possible": passkeys.possible(),
        "form": form,
    }
    return render(request, "security/factors.html", context, status=400 if form.errors else 200)


@require_http_methods(["GET", "HEAD", "POST"])
@sensitive
def add_app(request: HttpRequest) -> HttpResponse:
    """Shows a seed, and takes the first code that an app makes of it."""
    user, now = person(request), timezone.now()
    if keeping.app_of(user):
        messages.error(request, keeping.OneApp().detail)
        return redirect("factors")
    form, seed = Typed(values={"code": ""}), steps.seed(request, now=now)
    if request.method == "POST":
        stamp = page_stamp(request, now=now)
        with sending(request, form):
            codes = keeping.add_app(user=user, seed=seed, code=request.POST.get("code", ""), stamp=stamp)
            return was_added(request, _("The authenticator app is set up."), codes, by=proving.APP, stamp=stamp)
    context = {"form": form, "qr": qr(seed, user), "seed": calc.grouped(calc.base32(seed))}
    return render(request, "security/add_app.html", context, status=400 if form.errors else 200)


@require_POST
@sensitive
def passkey_options(request: HttpRequest) -> HttpResponse:
    """What the browser is asked for a new passkey."""
    user, now = person(request), timezone.now()
    challenge = steps.new_challenge(request, purpose=ADDING, now=now)
    known = list(Passkey.objects.of(user.pk))
    return HttpResponse(passkeys.to_add(user, challenge=challenge, known=known), content_type="application/json")


@require_POST
@sensitive
def add_passkey(request: HttpRequest) -> HttpResponse:
    """Takes what the browser answered."""
    stamp, form = page_stamp(request), Typed(values={"name": request.POST.get("name", "")})
    challenge = steps.challenge(request, purpose=ADDING, now=stamp.time)
    with sending(request, form):
        passkey = passkey_in(request, name=form.values["name"], challenge=challenge, stamp=stamp)
        codes = keeping.add_passkey(passkey, stamp=stamp)
        said = _("{name} is set up.").format(name=passkey.name)
        return was_added(request, said, codes, by=proving.PASSKEY, stamp=stamp)
    return listed(request, form)


class BadName(Invalid):
    """Give the passkey a name of at most a hundred characters on one line, such as Laptop."""

    code = "invalid_value"


def passkey_in(request: HttpRequest, *, name: str, challenge: bytes | None, stamp: Stamp) -> Passkey:
    """Raises BadName, NotAccepted."""
    try:
        name = name_in(name, longest=LONGEST_NAME)
    except ValidationError:
        raise BadName(pointer="#/name") from None
    if challenge is None:
        raise passkeys.NotAccepted("nobody asked for it, or it was answered before")
    answer = request.POST.get("answer", "")
    return passkeys.read_new(answer, user=person(request), challenge=challenge, name=name, now=stamp.time)


def was_added(request: HttpRequest, said: str, codes: list[str], *, by: str, stamp: Stamp) -> HttpResponse:
    """What was set up was proven with it. With the first factor come the recovery codes, this once."""
    steps.done(request)
    sessions.proved(request, now=stamp.time, factor=by)
    request.session.save()  # with the factor, so that no request between finds a session that lacks it
    messages.success(request, said)
    return show_codes(request, codes) if codes else redirect("factors")


@require_POST
@sensitive
def remove_app(request: HttpRequest) -> HttpResponse:
    with sending(request):
        keeping.remove_app(user=person(request), stamp=page_stamp(request))
        messages.success(request, _("The authenticator app was removed."))
    return redirect("factors")


@require_POST
@sensitive
def remove_passkey(request: HttpRequest, passkey_id: UUID) -> HttpResponse:
    with sending(request):
        name = keeping.remove_passkey(user=person(request), passkey_id=passkey_id, stamp=page_stamp(request))
        messages.success(request, _("{name} was removed.").format(name=name))
    return redirect("factors")


@require_POST
@sensitive
def new_codes(request: HttpRequest) -> HttpResponse:
    """Ten new codes; the old ones are void."""
    with sending(request):
        return show_codes(request, keeping.new_codes(user=person(request), stamp=page_stamp(request)))
    return redirect("factors")


def show_codes(request: HttpRequest, codes: list[str]) -> HttpResponse:
    return render(request, "security/codes.html", {"codes": codes})


def qr(seed: str, user: User) -> SafeString:
    """The seed as a picture for an app to read: an SVG element of ours, black on white in every colour scheme."""
    address = calc.app_address(seed, issuer=passkeys.PRODUCT, account=user.email)
    picture = segno.make(address, micro=False, error="m")
    return mark_safe(picture.svg_inline(scale=5, dark="#000", light="#fff", svgclass="qr"))  # noqa: S308 - digits alone
