"""Pages to list, add and remove MFA devices. Every change needs a recent sign-in."""

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

from companies.auth import sessions
from companies.auth.calc import mfa_codes
from companies.auth.mfa import backends, devices, passkeys, sign_in_state
from companies.errors import InvalidInputError
from companies.models import AuditContext, Passkey, RecoveryCode, User
from companies.names import parse_name
from companies.pages.context import (
    PageFunction,
    build_audit_context,
    get_signed_in_user,
    handle_form_errors,
    redirect_unless_recent_login,
    require_sign_in,
)
from companies.pages.forms import BoundForm

MAX_NAME_LENGTH = 100
ADD_PURPOSE = "add"  # the purpose of a challenge


def with_recent_login(page: PageFunction) -> PageFunction:
    """Decorate a page that needs a recent sign-in; other users authenticate first and return to the list."""

    @require_sign_in
    def view(request: HttpRequest, **kwargs: Any) -> HttpResponse:
        response = redirect_unless_recent_login(request, next_path=reverse("factors")) or page(request, **kwargs)
        response["Cache-Control"] = "no-store"
        return response

    return view


@require_safe
@require_sign_in
def show_mfa_devices(request: HttpRequest) -> HttpResponse:
    """Show the user's MFA devices."""
    return render_mfa_devices(request, BoundForm(values={"name": ""}))


def render_mfa_devices(request: HttpRequest, form: BoundForm) -> HttpResponse:
    """Render the list of devices with the form for a new passkey."""
    user = get_signed_in_user(request)
    context = {
        "app": devices.find_authenticator_app(user),
        "passkeys": Passkey.objects.for_user(user.pk).order_by("created_time"),
        "codes": RecoveryCode.objects.for_user(user.pk).count(),
        "possible": passkeys.can_use_passkeys(),
        "form": form,
    }
    return render(request, "companies/user/mfa_settings.html", context, status=400 if form.errors else 200)


@require_http_methods(["GET", "HEAD", "POST"])
@with_recent_login
def add_authenticator_app_page(request: HttpRequest) -> HttpResponse:
    """Show the QR code of a new authenticator app and accept its first code."""
    user, now = get_signed_in_user(request), timezone.now()
    if devices.find_authenticator_app(user):
        messages.error(request, devices.OneAuthenticatorApp().detail)
        return redirect("factors")
    form, seed = BoundForm(values={"code": ""}), sign_in_state.get_or_create_seed(request, now=now)
    if request.method == "POST":
        audit_context = build_audit_context(request, now=now)
        with handle_form_errors(request, form):
            codes = devices.add_authenticator_app(
                user=user, seed=seed, code=request.POST.get("code", ""), context=audit_context
            )
            return respond_to_added_device(
                request, _("Authenticator app added."), codes, mfa_method=backends.APP, context=audit_context
            )
    context = {"form": form, "qr": draw_qr_code(seed, user), "seed": mfa_codes.group_code(mfa_codes.encode_seed(seed))}
    return render(request, "companies/user/authenticator_app_form.html", context, status=400 if form.errors else 200)


@require_POST
@with_recent_login
def show_passkey_registration_options(request: HttpRequest) -> HttpResponse:
    """Return the WebAuthn registration options for a new passkey, as JSON."""
    user, now = get_signed_in_user(request), timezone.now()
    challenge = sign_in_state.create_challenge(request, purpose=ADD_PURPOSE, now=now)
    passkeys_of_user = list(Passkey.objects.for_user(user.pk))
    return HttpResponse(
        passkeys.build_registration_options(user, challenge=challenge, existing=passkeys_of_user),
        content_type="application/json",
    )


@require_POST
@with_recent_login
def add_passkey_page(request: HttpRequest) -> HttpResponse:
    """Store the passkey that the browser created."""
    context, form = build_audit_context(request), BoundForm(values={"name": request.POST.get("name", "")})
    challenge = sign_in_state.pop_challenge(request, purpose=ADD_PURPOSE, now=context.time)
    with handle_form_errors(request, form):
        passkey = parse_new_passkey(request, name=form.values["name"], challenge=challenge, context=context)
        codes = devices.add_passkey(passkey, context=context)
        message = _('Passkey "{name}" added.').format(name=passkey.name)
        return respond_to_added_device(request, message, codes, mfa_method=backends.PASSKEY, context=context)
    return render_mfa_devices(request, form)


class InvalidPasskeyName(InvalidInputError):
    """Enter a name of at most 100 characters on a single line, such as Laptop."""

    code = "invalid_value"


def parse_new_passkey(request: HttpRequest, *, name: str, challenge: bytes | None, context: AuditContext) -> Passkey:
    """Build the passkey from the posted answer of the browser. Raises InvalidPasskeyName, PasskeyNotAccepted."""
    try:
        name = parse_name(name, max_length=MAX_NAME_LENGTH)
    except ValidationError:
        raise InvalidPasskeyName(pointer="#/name") from None
    if challenge is None:
        raise passkeys.PasskeyNotAccepted("nobody asked for it, or it was answered before")
    answer = request.POST.get("answer", "")
    return passkeys.parse_registration(
        answer, user=get_signed_in_user(request), challenge=challenge, name=name, now=context.time
    )


def respond_to_added_device(
    request: HttpRequest, message: str, codes: list[str], *, mfa_method: str, context: AuditContext
) -> HttpResponse:
    """Record the authentication with the new device and show the recovery codes if there are any."""
    sign_in_state.clear_sign_in_state(request)
    sessions.record_authentication(request, now=context.time, mfa_method=mfa_method)
    request.session.save()  # saved with the MFA method, so that no other request finds the session without it
    messages.success(request, message)
    return render_recovery_codes(request, codes) if codes else redirect("factors")


@require_POST
@with_recent_login
def remove_authenticator_app_page(request: HttpRequest) -> HttpResponse:
    """Remove the authenticator app."""
    with handle_form_errors(request):
        devices.remove_authenticator_app(user=get_signed_in_user(request), context=build_audit_context(request))
        messages.success(request, _("Authenticator app removed."))
    return redirect("factors")


@require_POST
@with_recent_login
def remove_passkey_page(request: HttpRequest, passkey_id: UUID) -> HttpResponse:
    """Remove a passkey."""
    with handle_form_errors(request):
        name = devices.remove_passkey(
            user=get_signed_in_user(request), passkey_id=passkey_id, context=build_audit_context(request)
        )
        messages.success(request, _('Passkey "{name}" removed.').format(name=name))
    return redirect("factors")


@require_POST
@with_recent_login
def replace_recovery_codes_page(request: HttpRequest) -> HttpResponse:
    """Replace the recovery codes and show the new ones."""
    with handle_form_errors(request):
        return render_recovery_codes(
            request,
            devices.replace_recovery_codes(user=get_signed_in_user(request), context=build_audit_context(request)),
        )
    return redirect("factors")


def render_recovery_codes(request: HttpRequest, codes: list[str]) -> HttpResponse:
    """Render the recovery codes."""
    return render(request, "companies/user/recovery_codes.html", {"codes": codes})


def draw_qr_code(seed: str, user: User) -> SafeString:
    """Draw the QR code of a seed as an inline SVG, black on white in every colour scheme."""
    uri = mfa_codes.build_otpauth_uri(seed, issuer=passkeys.PRODUCT_NAME, account=user.email)
    code = segno.make(uri, micro=False, error="m")
    return mark_safe(code.svg_inline(scale=5, dark="#000", light="#fff", svgclass="qr"))  # noqa: S308 - digits alone
