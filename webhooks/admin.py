"""What staff see of a company's webhooks, read-only: which fail, and what was answered."""

from typing import Any

from django.contrib import admin

from companies.admin import CompanyAdmin, Rows
from webhooks.models import WebhookDelivery, WebhookEndpoint


class EndpointRows(Rows):
    """Those that fail first, with how long they have."""

    model = WebhookEndpoint
    fields = readonly_fields = (
        "url", "enabled", "failing_since", "failures", "last_status", "last_delivery_time",
    )  # fmt: skip
    ordering = ("failing_since", "id")  # null comes last
    verbose_name_plural = "webhooks"


class FailedDeliveryRows(Rows):
    """The latest that were not taken."""

    model = WebhookDelivery
    fields = readonly_fields = ("time", "type", "address", "status", "error", "response")
    ordering = ("-id",)
    latest = 10
    verbose_name_plural = "latest webhook errors"

    def get_queryset(self, request: Any) -> Any:
        return super().get_queryset(request).select_related("endpoint")

    def wanted(self, rows: Any) -> Any:
        return rows.filter(time__isnull=False).exclude(status__range=(200, 299))

    @admin.display(description="to")
    def address(self, delivery: WebhookDelivery) -> str:
        return delivery.endpoint.url


CompanyAdmin.inlines += [EndpointRows, FailedDeliveryRows]
