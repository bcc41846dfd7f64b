"""The staff's admin has our own apps' pages and no others; how they get in says config.staff."""

from importlib import import_module

from django.apps import apps
from django.contrib import admin
from django.contrib.admin.apps import SimpleAdminConfig
from django.http import Http404, HttpRequest, HttpResponse
from django.utils.module_loading import module_has_submodule

UNWANTED = {"axes", "django_otp.plugins.otp_totp"}  # attempts to sign in, and what second factors are computed from


class AdminConfig(SimpleAdminConfig):
    default_site = "config.staff.site"

    def ready(self) -> None:
        super().ready()
        for app in apps.get_app_configs():
            if app.name not in UNWANTED and app.module and module_has_submodule(app.module, "admin"):
                import_module(f"{app.name}.admin")
        for model in ("AccessToken", "AuthorizationCode", "IDToken", "RefreshToken"):
            admin.site.unregister(apps.get_model("oauth", model))  # the toolkit shows them; to see one helps nobody


def no_page(request: HttpRequest) -> HttpResponse:
    """In the place of Django's way from the admin to a row's own page, which fails on ids that are no UUIDs: no row of
    ours has one."""
    raise Http404
