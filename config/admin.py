"""The staff's admin: our own apps' pages and no others; a second factor where the settings ask for one."""

from importlib import import_module

from django.apps import apps
from django.conf import settings
from django.contrib import admin
from django.contrib.admin import AdminSite
from django.contrib.admin.apps import SimpleAdminConfig
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404
from django.utils.module_loading import module_has_submodule

UNWANTED = {"oauth2_provider", "axes"}  # the toolkit's pages would show tokens, those of axes attempts to sign in


class AdminConfig(SimpleAdminConfig):
    default_site = "config.admin.site"

    def ready(self) -> None:
        super().ready()
        for app in apps.get_app_configs():
            if app.name not in UNWANTED and app.module and module_has_submodule(app.module, "admin"):
                import_module(f"{app.name}.admin")
        show_devices_that_are_there()


def show_devices_that_are_there() -> None:
    """The second factor's own two pages fail on a device that is gone; ours have nothing to show."""
    from django_otp.plugins.otp_totp.admin import TOTPDeviceAdmin
    from django_otp.plugins.otp_totp.models import TOTPDevice

    class DeviceAdmin(TOTPDeviceAdmin):
        def config_view(self, request: HttpRequest, pk: int) -> HttpResponse:
            get_object_or_404(TOTPDevice, pk=pk)
            return super().config_view(request, pk)

        def qrcode_view(self, request: HttpRequest, pk: int) -> HttpResponse:
            get_object_or_404(TOTPDevice, pk=pk)
            return super().qrcode_view(request, pk)

    admin.site.unregister(TOTPDevice)
    admin.site.register(TOTPDevice, DeviceAdmin)


def no_page(request: HttpRequest) -> HttpResponse:
    """In the place of Django's way from the admin to a row's own page, which fails on ids that are no UUIDs: no row of
    ours has one."""
    raise Http404


def site() -> AdminSite:
    """With STAFF_MFA on, only staff who confirmed a one-time password get in."""
    if settings.STAFF_MFA:
        from django_otp.admin import OTPAdminSite

        staff: AdminSite = OTPAdminSite(name="admin")
    else:
        staff = AdminSite()
    staff.site_header = staff.site_title = "Staff"
    staff.index_title = "Companies, people and apps"
    return staff
