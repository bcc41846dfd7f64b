"""REST: subscriptions."""

import django_filters
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from companies.api.company_viewset import CompanyViewSet, build_crud_permissions
from companies.api.filters import IdFilter, filter_by_query
from companies.api.openapi.schema import PAGING_PARAMETERS
from companies.api.serializers import SUCCESS
from companies.permissions import Permission
from ledger.models import ExternalIdTaken, Subscription, SubscriptionInUse
from ledger.models.subscriptions import SubscriptionQuerySet
from ledger.subscriptions.actions import subscriptions
from ledger.subscriptions.fields import SUBSCRIPTION_TEXTS
from ledger.subscriptions.serializers import subscriptions as serializers


class SubscriptionFilter(django_filters.FilterSet):
    customerId = IdFilter("customer_id")  # noqa: N815 - parameters are named as on the wire
    productId = IdFilter("product_id")  # noqa: N815

    class Meta:
        model = Subscription
        fields: list[str] = []

    @classmethod
    def get_filters(cls) -> dict[str, django_filters.Filter]:
        texts = {
            text.name: django_filters.CharFilter(text.column, max_length=text.max_length) for text in SUBSCRIPTION_TEXTS
        }
        return {**super().get_filters(), **texts}


class SubscriptionViewSet(CompanyViewSet):
    schema_tags = ["Subscriptions"]
    resource, shape = Subscription, serializers.SubscriptionSerializer
    errors_for = {**dict.fromkeys(("create", "update"), (ExternalIdTaken,)), "destroy": [SubscriptionInUse]}
    permission_for = build_crud_permissions(reads=Permission.SUBSCRIPTIONS_READ, writes=Permission.SUBSCRIPTIONS_WRITE)
    filterset_class = SubscriptionFilter

    @extend_schema(parameters=PAGING_PARAMETERS)
    def list(self, request: Request, company_id: str) -> Response:
        """List subscriptions with their current amount, newest first."""
        return self.respond_with_page(
            filter_by_query(self, SubscriptionFilter, self.with_current_terms()), order=("-id",)
        )

    def create(self, request: Request, company_id: str) -> Response:
        """Create a subscription of a customer, optionally to a product. Add events to set its price."""
        values = self.parse_body(serializers.SubscriptionSerializer)
        subscription = subscriptions.create_subscription(
            company=self.company, context=self.audit_context, values=values
        )
        return self.respond_created(subscription)

    def retrieve(self, request: Request, company_id: str, subscription_id: str) -> Response:
        """Get a subscription with its current amount."""
        return self.respond_with_one(self.get_row(self.with_current_terms(), subscription_id))

    def update(self, request: Request, company_id: str, subscription_id: str) -> Response:
        """Update the fields you send. Events move along with the customer. Add an event to change the price."""
        values = self.parse_body(serializers.SubscriptionSerializer, partial=True)
        row = subscriptions.update_subscription(
            company=self.company, context=self.audit_context, subscription_id=subscription_id, values=values
        )
        return self.respond_with_one(row)

    def destroy(self, request: Request, company_id: str, subscription_id: str) -> Response:
        """Delete a subscription without active events (otherwise 409 `subscription_in_use`)."""
        subscriptions.delete_subscription(
            company=self.company, context=self.audit_context, subscription_id=subscription_id
        )
        return Response(SUCCESS)

    def with_current_terms(self) -> SubscriptionQuerySet:
        """Return subscriptions annotated with today's terms."""
        return Subscription.objects.for_company(self.company.id).with_current_terms(self.company.id, self.today)

    def get_response_row(self, row: Subscription) -> Subscription:
        return self.with_current_terms().filter(id=row.id).first() or row
