"""The staff's admin: our own apps' pages and no others; a second factor where the settings ask for one."""

from importlib import import_module
from typing import Any

from django.apps import apps
from django.conf import settings
from django.contrib import admin
from django.contrib.admin import AdminSite
from django.contrib.admin.apps import SimpleAdminConfig
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.utils import timezone
from django.utils.module_loading import module_has_submodule

UNWANTED = {"axes"}  # its pages show attempts to sign in


class AdminConfig(SimpleAdminConfig):
    default_site = "config.admin.site"

    def ready(self) -> None:
        super().ready()
        for app in apps.get_app_configs():
            if app.name not in UNWANTED and app.module and module_has_submodule(app.module, "admin"):
                import_module(f"{app.name}.admin")
        show_seeds_once()
        for model in ("AccessToken", "AuthorizationCode", "IDToken", "RefreshToken"):
            admin.site.unregister(apps.get_model("oauth", model))  # the toolkit shows them; to see one helps nobody


def show_seeds_once() -> None:
    """What a second factor is computed from is shown to who makes it, in the answer to that, and never again.

    The setting OTP_ADMIN_HIDE_SENSITIVE_DATA keeps keys and tokens off the pages of rows that there are; the two
    pages that would show them by a device's number are not there.
    """
    from django_otp.plugins.otp_totp.admin import TOTPDeviceAdmin
    from django_otp.plugins.otp_totp.models import TOTPDevice

    class DeviceAdmin(TOTPDeviceAdmin):
        def config_view(self, request: HttpRequest, pk: int) -> HttpResponse:
            raise Http404

        qrcode_view = config_view

        def lookup_allowed(self, lookup: str, value: Any, request: Any = None) -> bool:
            """A list can be filtered by any column, and so would tell the key letter by letter."""
            return not lookup.startswith("key") and super().lookup_allowed(lookup, value, request)

        def response_add(self, request: HttpRequest, obj: Any, post_url_continue: Any = None) -> HttpResponse:
            context = {**self.admin_site.each_context(request), "title": "The key of the new device", "device": obj}
            return TemplateResponse(request, "admin/new_device.html", context)

    admin.site.unregister(TOTPDevice)
    admin.site.register(TOTPDevice, DeviceAdmin)


def no_page(request: HttpRequest) -> HttpResponse:
    """In the place of Django's way from the admin to a row's own page, which fails on ids that are no UUIDs: no row of
    ours has one."""
    raise Http404


def told(staff: type[AdminSite]) -> type[AdminSite]:
    """The site, whose sign-ins stand in the person's log and are told as those of the application's own page."""

    class Told(staff):  # type: ignore[misc, valid-type]
        def login(self, request: HttpRequest, extra_context: Any = None) -> HttpResponse:
            from companies.callers import sessions

            response: HttpResponse = super().login(request, extra_context)
            if request.method == "POST" and isinstance(response, HttpResponseRedirect):
                sessions.arrived(request, request.user, now=timezone.now())  # type: ignore[arg-type] # somebody now
            return response

    return Told


def site() -> AdminSite:
    """With STAFF_MFA on, only staff who confirmed a one-time password get in."""
    if settings.STAFF_MFA:
        from django_otp.admin import OTPAdminSite

        staff = told(OTPAdminSite)(name="admin")
    else:
        staff = told(AdminSite)()
    staff.site_header = staff.site_title = "Staff"
    staff.index_title = "Companies, people and apps"
    return staff
