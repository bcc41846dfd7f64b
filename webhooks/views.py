"""Endpoints of webhooks."""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import ListSerializer

from companies.api.document.schema import PAGING
from companies.api.viewsets import CompanyViewSet, granted
from companies.callers.step_up import SignInAgain, require_recent_login
from companies.permissions import Permission
from webhooks import endpoints
from webhooks import serializers as shapes
from webhooks.models import WebhookDelivery, WebhookEndpoint

MANAGE = Permission.COMPANY_MANAGE


class WebhookEndpointViewSet(CompanyViewSet):
    schema_tags = ["Webhooks"]
    schema_noun = "webhookEndpoint"
    resource, shape = WebhookEndpoint, shapes.WebhookEndpointShape
    refuses = {
        "create": [endpoints.TooManyEndpoints, SignInAgain],
        **dict.fromkeys(("update", "destroy", "roll_secret"), (SignInAgain,)),
        **dict.fromkeys(("test", "redeliver"), (endpoints.TooManyAsked,)),
    }
    needs_recent_login = frozenset({"create", "update", "destroy", "roll_secret"})
    permission_for = granted(reads=MANAGE, writes=MANAGE) | dict.fromkeys(
        ("roll_secret", "test", "deliveries", "redeliver"), MANAGE
    )

    def permit(self) -> None:
        """Whoever changes where events go decides who reads them: a browser session signs in for it."""
        super().permit()
        if self.action in self.needs_recent_login:
            require_recent_login(self)

    @extend_schema(responses=ListSerializer(child=shapes.WebhookEndpointShape(), max_length=endpoints.MOST))
    def list(self, request: Request, company_id: str) -> Response:
        """All endpoints of the company; never their secrets."""
        self.only_parameters()
        return self.all(WebhookEndpoint.objects.of(self.company.id).in_order())

    @extend_schema(responses={201: shapes.CreatedWebhookEndpoint})
    def create(self, request: Request, company_id: str) -> Response:
        """Adds an endpoint; `secret` is answered this once. It is sent every event that is committed from now on, as
        the feed of events has it, in that order, signed by Standard Webhooks. 20 a company."""
        shown = endpoints.add(company=self.company, stamp=self.stamp, values=self.parsed(self.shape))
        return with_secret(self.created(shown.endpoint), shown)

    def retrieve(self, request: Request, company_id: str, endpoint_id: str) -> Response:
        """One endpoint, and how it answers."""
        return self.one(self.found(WebhookEndpoint.objects, endpoint_id))

    def update(self, request: Request, company_id: str, endpoint_id: str) -> Response:
        """Changes the fields that are sent. What happens while it is not enabled is sent when it is again, in order; to
        leave that out, delete it and add another."""
        values = self.parsed(self.shape, partial=True, shown=self.shape)
        endpoint = endpoints.change_endpoint(
            company=self.company, stamp=self.stamp, endpoint_id=endpoint_id, values=values
        )
        return self.one(endpoint)

    def destroy(self, request: Request, company_id: str, endpoint_id: str) -> Response:
        """Deletes an endpoint with its deliveries; nothing is sent to it any more."""
        endpoints.delete(company=self.company, stamp=self.stamp, endpoint_id=endpoint_id)
        return Response({"success": True})

    @extend_schema(
        operation_id="rollWebhookEndpointSecret", request=None, responses={200: shapes.CreatedWebhookEndpoint}
    )
    def roll_secret(self, request: Request, company_id: str, endpoint_id: str) -> Response:
        """Another secret, answered this once. For a day every message is signed with the old one too."""
        shown = endpoints.roll_secret(company=self.company, stamp=self.stamp, endpoint_id=endpoint_id)
        return with_secret(self.one(shown.endpoint), shown)

    @extend_schema(operation_id="testWebhookEndpoint", request=None, responses=shapes.WebhookDeliveryShape)
    def test(self, request: Request, company_id: str, endpoint_id: str) -> Response:
        """Has an event `webhookEndpoint.tested` sent to this endpoint alone, at once and once, whatever its types and
        enabled or not. The delivery tells what became of it."""
        delivery = endpoints.test(company=self.company, stamp=self.stamp, endpoint_id=endpoint_id)
        return Response(shapes.WebhookDeliveryShape(delivery).data)

    @extend_schema(
        operation_id="listWebhookDeliveries", parameters=PAGING, responses=shapes.WebhookDeliveryShape(many=True)
    )
    def deliveries(self, request: Request, company_id: str, endpoint_id: str) -> Response:
        """What was sent to an endpoint in the last 30 days, and what it answered, latest first."""
        self.only_parameters("limit", "cursor")
        endpoint = self.found(WebhookEndpoint.objects, endpoint_id)
        rows = WebhookDelivery.objects.of(self.company.id).filter(endpoint=endpoint)
        return self.page(rows, shapes.WebhookDeliveryShape, order=("-id",))

    @extend_schema(operation_id="redeliverWebhook", request=None, responses=shapes.WebhookDeliveryShape)
    def redeliver(self, request: Request, company_id: str, endpoint_id: str, delivery_id: str) -> Response:
        """Has the event of a delivery sent again, at once and once, with the same `webhook-id`. A new delivery tells
        what became of it."""
        delivery = endpoints.redeliver(
            company=self.company, stamp=self.stamp, endpoint_id=endpoint_id, delivery_id=delivery_id
        )
        return Response(shapes.WebhookDeliveryShape(delivery).data)


def with_secret(answer: Any, shown: endpoints.Shown) -> Response:
    """The answer that says it, which nobody keeps."""
    answer.data = {**answer.data, "secret": shown.secret}
    answer.headers["Cache-Control"] = "no-store"
    return answer
