"""URL configuration, app by app."""

from django.contrib import admin
from django.urls import include, path, re_path
from django.views.generic import RedirectView

from companies.api.openapi import reference
from companies.pages import assets, guides
from config.admin import raise_page_not_found
from config.monitoring import health, metrics

urlpatterns = [
    path("", RedirectView.as_view(url="/app/")),
    path("healthz", health.check_liveness),
    path("readyz", health.check_readiness),
    path("metrics", metrics.show_metrics),
    path("", include("assistants.urls")),  # before the hundreds of other URLs
    path("openapi.json", reference.serve_openapi_document),
    path("docs", reference.show_api_reference),
    path("docs/errors", reference.show_error_codes),
    re_path(r"^docs/guides/?$", RedirectView.as_view(url="/docs/guides/month-end")),  # it lists the others
    path("docs/guides/<str:name>", guides.show_guide, name="guide"),
    re_path(r"^assets/(?P<path>.+)$", assets.serve_asset),
    re_path(r"^admin/r/", raise_page_not_found),
    path("admin/password_change/", RedirectView.as_view(pattern_name="password-change")),  # ours counts wrong ones
    path("admin/", admin.site.urls),
    path("", include("companies.urls")),
    path("", include("notifications.urls")),
    path("", include("webhooks.urls")),
    path("", include("oauth.urls")),
    path("", include("ledger.urls")),
    path("", include("planning.urls")),
    path("", include("analytics.urls")),
    path("", include("demo.urls")),
]

handler400 = "companies.error_pages.show_bad_request_page"
handler403 = "companies.error_pages.show_permission_denied_page"
handler404 = "companies.error_pages.show_not_found_page"
handler500 = "companies.error_pages.show_server_error_page"
