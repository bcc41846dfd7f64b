"""Admin: a company's webhook endpoints and failed deliveries, read-only."""

from typing import Any

from django.contrib import admin

from companies.admin import CompanyAdmin, CompanyRowsInline
from webhooks.models import WebhookDelivery, WebhookEndpoint


class EndpointRows(CompanyRowsInline):
    """Endpoints, failing ones first."""

    model = WebhookEndpoint
    fields = readonly_fields = (
        "url", "enabled", "failing_since", "failures", "last_status", "last_delivery_time",
    )  # fmt: skip
    ordering = ("failing_since", "id")  # null comes last
    verbose_name_plural = "webhooks"


class FailedDeliveryRows(CompanyRowsInline):
    """The latest failed deliveries."""

    model = WebhookDelivery
    fields = readonly_fields = ("time", "type", "endpoint_url", "status", "error", "response")
    ordering = ("-id",)
    latest = 10
    verbose_name_plural = "latest webhook errors"

    def get_queryset(self, request: Any) -> Any:
        return super().get_queryset(request).select_related("endpoint")

    def filter_latest(self, rows: Any) -> Any:
        return rows.filter(time__isnull=False).exclude(status__range=(200, 299))

    @admin.display(description="URL")
    def endpoint_url(self, delivery: WebhookDelivery) -> str:
        return delivery.endpoint.url


CompanyAdmin.inlines += [EndpointRows, FailedDeliveryRows]
