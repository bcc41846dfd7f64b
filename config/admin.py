"""The staff's admin: our own apps' pages and no others; a second factor where the settings ask for one."""

from importlib import import_module

from django.apps import apps
from django.conf import settings
from django.contrib.admin import AdminSite
from django.contrib.admin.apps import SimpleAdminConfig
from django.http import Http404, HttpRequest, HttpResponse
from django.utils.module_loading import module_has_submodule

UNWANTED = {"oauth2_provider", "axes"}  # the toolkit's pages would show tokens, those of axes attempts to sign in


class AdminConfig(SimpleAdminConfig):
    default_site = "config.admin.site"

    def ready(self) -> None:
        super().ready()
        for app in apps.get_app_configs():
            if app.name not in UNWANTED and app.module and module_has_submodule(app.module, "admin"):
                import_module(f"{app.name}.admin")


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
