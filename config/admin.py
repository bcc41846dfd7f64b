"""Admin configuration: only pages of our own apps. Access is checked in config.admin_site."""

from importlib import import_module

from django.apps import apps
from django.contrib import admin
from django.contrib.admin.apps import SimpleAdminConfig
from django.http import Http404, HttpRequest, HttpResponse
from django.utils.module_loading import module_has_submodule

UNWANTED_APPS = {"axes", "django_otp.plugins.otp_totp"}  # lockout data and TOTP secrets


class AdminConfig(SimpleAdminConfig):
    default_site = "config.admin_site.build_staff_site"

    def ready(self) -> None:
        super().ready()
        for app in apps.get_app_configs():
            if app.name not in UNWANTED_APPS and app.module and module_has_submodule(app.module, "admin"):
                import_module(f"{app.name}.admin")
        for model in ("AccessToken", "AuthorizationCode", "IDToken", "RefreshToken"):
            admin.site.unregister(apps.get_model("oauth", model))  # tokens of the OAuth toolkit are not shown


def raise_page_not_found(request: HttpRequest) -> HttpResponse:
    """Raise 404 in place of Django's redirect from the admin to an object's page, which fails for our ids."""
    raise Http404
