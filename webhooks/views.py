"""Endpoints of webhooks."""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import ListSerializer

from companies.api.company_viewset import CompanyViewSet, build_crud_permissions
from companies.api.openapi.schema import PAGING_PARAMETERS
from companies.auth.step_up import SignInAgain, require_recent_login
from companies.permissions import Permission
from companies.sandboxes import NotInSandbox
from webhooks import actions, serializers
from webhooks.models import WebhookDelivery, WebhookEndpoint

MANAGE = Permission.COMPANY_MANAGE


class WebhookEndpointViewSet(CompanyViewSet):
    schema_tags = ["Webhooks"]
    schema_noun = "webhookEndpoint"
    resource, shape = WebhookEndpoint, serializers.WebhookEndpointSerializer
    errors_for = {
        "create": [actions.TooManyWebhookEndpoints, NotInSandbox, SignInAgain],
        **dict.fromkeys(("update", "destroy", "roll_secret"), (SignInAgain,)),
        **dict.fromkeys(("test", "redeliver"), (actions.TooManyDeliveriesWaiting,)),
    }
    needs_recent_login = frozenset({"create", "update", "destroy", "roll_secret"})
    permission_for = build_crud_permissions(reads=MANAGE, writes=MANAGE) | dict.fromkeys(
        ("roll_secret", "test", "deliveries", "redeliver"), MANAGE
    )

    def check_permission(self) -> None:
        """Require a recent sign-in of browser sessions for changes of where events go."""
        super().check_permission()
        if self.action in self.needs_recent_login:
            require_recent_login(self)

    @extend_schema(
        responses=ListSerializer(child=serializers.WebhookEndpointSerializer(), max_length=actions.MAX_ENDPOINTS)
    )
    def list(self, request: Request, company_id: str) -> Response:
        """List webhook endpoints. Secrets are never returned."""
        self.allow_parameters()
        return self.respond_with_all(WebhookEndpoint.objects.for_company(self.company.id).in_display_order())

    @extend_schema(responses={201: serializers.CreatedWebhookEndpoint})
    def create(self, request: Request, company_id: str) -> Response:
        """Create a webhook endpoint. `secret` is returned only here, and if the request is repeated with its
        Idempotency-Key.

        The endpoint receives every event from now on, in the order of the event feed, signed according to Standard
        Webhooks. A company can have up to 20 endpoints."""
        endpoint_with_secret = actions.create_webhook_endpoint(
            company=self.company, context=self.audit_context, values=self.parse_body(self.shape)
        )
        return add_secret_to_response(self.respond_created(endpoint_with_secret.endpoint), endpoint_with_secret)

    def retrieve(self, request: Request, company_id: str, endpoint_id: str) -> Response:
        """Get a webhook endpoint with its last response."""
        return self.respond_with_one(self.get_row(WebhookEndpoint.objects, endpoint_id))

    def update(self, request: Request, company_id: str, endpoint_id: str) -> Response:
        """Update the fields you send. Events that occur while the endpoint is disabled are sent when you enable it.
        To skip them, delete the endpoint and create another."""
        values = self.parse_body(self.shape, partial=True, resource_serializer=self.shape)
        endpoint = actions.update_webhook_endpoint(
            company=self.company, context=self.audit_context, endpoint_id=endpoint_id, values=values
        )
        return self.respond_with_one(endpoint)

    def destroy(self, request: Request, company_id: str, endpoint_id: str) -> Response:
        """Delete a webhook endpoint and its deliveries."""
        actions.delete_webhook_endpoint(company=self.company, context=self.audit_context, endpoint_id=endpoint_id)
        return Response({"success": True})

    @extend_schema(
        operation_id="rollWebhookEndpointSecret", request=None, responses={200: serializers.CreatedWebhookEndpoint}
    )
    def roll_secret(self, request: Request, company_id: str, endpoint_id: str) -> Response:
        """Roll the signing secret. `secret` is returned only once; the old secret also signs for 24 hours."""
        endpoint_with_secret = actions.roll_webhook_secret(
            company=self.company, context=self.audit_context, endpoint_id=endpoint_id
        )
        return add_secret_to_response(self.respond_with_one(endpoint_with_secret.endpoint), endpoint_with_secret)

    @extend_schema(operation_id="testWebhookEndpoint", request=None, responses=serializers.WebhookDeliverySerializer)
    def test(self, request: Request, company_id: str, endpoint_id: str) -> Response:
        """Send a `webhookEndpoint.tested` event to this endpoint, regardless of its types and status.
        The delivery has the result."""
        delivery = actions.request_test_delivery(
            company=self.company, context=self.audit_context, endpoint_id=endpoint_id
        )
        return Response(serializers.WebhookDeliverySerializer(delivery).data)

    @extend_schema(
        operation_id="listWebhookDeliveries",
        parameters=PAGING_PARAMETERS,
        responses=serializers.WebhookDeliverySerializer(many=True),
    )
    def deliveries(self, request: Request, company_id: str, endpoint_id: str) -> Response:
        """List deliveries of the last 30 days with their responses, newest first."""
        self.allow_parameters("limit", "cursor")
        endpoint = self.get_row(WebhookEndpoint.objects, endpoint_id)
        rows = WebhookDelivery.objects.for_company(self.company.id).filter(endpoint=endpoint)
        return self.respond_with_page(rows, serializers.WebhookDeliverySerializer, order=("-id",))

    @extend_schema(operation_id="redeliverWebhook", request=None, responses=serializers.WebhookDeliverySerializer)
    def redeliver(self, request: Request, company_id: str, endpoint_id: str, delivery_id: str) -> Response:
        """Resend the event of a delivery with the same `webhook-id`. The new delivery has the result."""
        delivery = actions.request_redelivery(
            company=self.company, context=self.audit_context, endpoint_id=endpoint_id, delivery_id=delivery_id
        )
        return Response(serializers.WebhookDeliverySerializer(delivery).data)


def add_secret_to_response(response: Any, endpoint_with_secret: actions.EndpointWithSecret) -> Response:
    """Add the secret to a response, which is not cached."""
    response.data = {**response.data, "secret": endpoint_with_secret.secret}
    response.headers["Cache-Control"] = "no-store"
    return response
