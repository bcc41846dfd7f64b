"""One line per endpoint."""

from django.urls import path

from webhooks import pages
from webhooks.views import WebhookEndpointViewSet

PAGE = "app/companies/<str:company_id>/settings/webhooks"

urlpatterns = [
    path("companies/<str:company_id>/webhook_endpoints", WebhookEndpointViewSet.as_view({"get": "list", "post": "create"})),
    path(
        "companies/<str:company_id>/webhook_endpoints/<str:endpoint_id>",
        WebhookEndpointViewSet.as_view({"get": "retrieve", "put": "update", "delete": "destroy"}),
    ),
    path(
        "companies/<str:company_id>/webhook_endpoints/<str:endpoint_id>/roll_secret",
        WebhookEndpointViewSet.as_view({"post": "roll_secret"}),
    ),
    path("companies/<str:company_id>/webhook_endpoints/<str:endpoint_id>/test", WebhookEndpointViewSet.as_view({"post": "test"})),
    path(
        "companies/<str:company_id>/webhook_endpoints/<str:endpoint_id>/deliveries",
        WebhookEndpointViewSet.as_view({"get": "deliveries"}),
    ),
    path(
        "companies/<str:company_id>/webhook_endpoints/<str:endpoint_id>/deliveries/<str:delivery_id>/redeliver",
        WebhookEndpointViewSet.as_view({"post": "redeliver"}),
    ),
    path(PAGE, pages.show_webhook_endpoints, name="webhooks"),
    path(f"{PAGE}/new", pages.create_webhook_endpoint_page, name="webhook-new"),
    path(f"{PAGE}/<uuid:endpoint_id>", pages.show_webhook_endpoint, name="webhook"),
    path(f"{PAGE}/<uuid:endpoint_id>/roll", pages.roll_webhook_secret_page, name="webhook-roll"),
    path(f"{PAGE}/<uuid:endpoint_id>/test", pages.request_test_delivery_page, name="webhook-test"),
    path(f"{PAGE}/<uuid:endpoint_id>/delete", pages.delete_webhook_endpoint_page, name="webhook-delete"),
    path(f"{PAGE}/<uuid:endpoint_id>/deliveries/<uuid:delivery_id>/redeliver", pages.request_redelivery_page, name="webhook-redeliver"),
]
