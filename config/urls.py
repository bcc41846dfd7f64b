"""The whole address space, one app after the other."""

from django.contrib import admin
from django.urls import include, path, re_path
from django.views.generic import RedirectView

from companies.api.document import reference
from companies.pages import guides
from companies.stores import assets
from config.admin import no_page
from config.watching import health, metrics

urlpatterns = [
    path("", RedirectView.as_view(url="/app/")),
    path("healthz", health.healthz),
    path("readyz", health.readyz),
    path("metrics", metrics.metrics),
    path("", include("assistants.urls")),  # before hundreds of addresses that are looked at in turn
    path("openapi.json", reference.openapi),
    path("docs", reference.docs),
    path("docs/errors", reference.error_codes),
    path("docs/guides/<str:name>", guides.guide, name="guide"),
    re_path(r"^assets/(?P<path>.+)$", assets.serve),
    re_path(r"^admin/r/", no_page),
    path("admin/password_change/", RedirectView.as_view(pattern_name="password-change")),  # where wrong ones are counted
    path("admin/", admin.site.urls),
    path("", include("companies.urls")),
    path("", include("notifications.urls")),
    path("", include("webhooks.urls")),
    path("", include("oauth.urls")),
    path("", include("ledger.urls")),
    path("", include("planning.urls")),
    path("", include("analytics.urls")),
]

handler400 = "companies.pages.failures.unreadable"
handler403 = "companies.pages.failures.permission_denied"
handler404 = "companies.pages.failures.page_not_found"
handler500 = "companies.pages.failures.server_error"
