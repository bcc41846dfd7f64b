"""REST: subscriptions, their events, and imports of events."""

import django_filters
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from companies.api.company_viewset import CompanyViewSet, build_crud_permissions
from companies.api.filters import DateFilter, IdFilter, filter_by_query
from companies.api.openapi.schema import PAGING_PARAMETERS
from companies.api.rendering import read_json_body
from companies.api.serializers import SUCCESS
from companies.permissions import Permission
from ledger.bulk.serializers import build_row_errors
from ledger.models import ExternalIdTaken, Subscription, SubscriptionEvent, SubscriptionInUse
from ledger.models.subscriptions import SubscriptionQuerySet
from ledger.subscriptions.actions import event_import as event_importing
from ledger.subscriptions.actions import subscriptions
from ledger.subscriptions.actions.event_import import MAX_ID_LENGTH
from ledger.subscriptions.serializers import subscriptions as serializers
from ledger.subscriptions.serializers.event_import_body import EVENT_IMPORT_BODY

SUBSCRIPTION_PERMISSIONS = build_crud_permissions(
    reads=Permission.SUBSCRIPTIONS_READ, writes=Permission.SUBSCRIPTIONS_WRITE
)


class SubscriptionFilter(django_filters.FilterSet):
    customerId = IdFilter("customer_id")  # noqa: N815 - parameters are named as on the wire
    productId = IdFilter("product_id")  # noqa: N815
    externalId = django_filters.CharFilter("external_id", max_length=MAX_ID_LENGTH)  # noqa: N815

    class Meta:
        model = Subscription
        fields: list[str] = []


class SubscriptionViewSet(CompanyViewSet):
    schema_tags = ["Subscriptions"]
    resource, shape = Subscription, serializers.SubscriptionSerializer
    refuses = {**dict.fromkeys(("create", "update"), (ExternalIdTaken,)), "destroy": [SubscriptionInUse]}
    permission_for = SUBSCRIPTION_PERMISSIONS
    filterset_class = SubscriptionFilter

    @extend_schema(parameters=PAGING_PARAMETERS)
    def list(self, request: Request, company_id: str) -> Response:
        """Subscriptions with what they are worth today, latest first."""
        return self.respond_with_page(
            filter_by_query(self, SubscriptionFilter, self.with_current_terms()), order=("-id",)
        )

    def create(self, request: Request, company_id: str) -> Response:
        """A customer subscribes, to a product perhaps; events then say to how much and from when."""
        values = self.parse_body(serializers.SubscriptionSerializer)
        subscription = subscriptions.create_subscription(
            company=self.company, context=self.audit_context, values=values
        )
        return self.respond_created(subscription)

    def retrieve(self, request: Request, company_id: str, subscription_id: str) -> Response:
        """One subscription with what it is worth today."""
        return self.respond_with_one(self.get_row(self.with_current_terms(), subscription_id))

    def update(self, request: Request, company_id: str, subscription_id: str) -> Response:
        """Changes the fields that are sent; another customer takes the events over. What it is worth events say."""
        values = self.parse_body(serializers.SubscriptionSerializer, partial=True)
        row = subscriptions.update_subscription(
            company=self.company, context=self.audit_context, subscription_id=subscription_id, values=values
        )
        return self.respond_with_one(row)

    def destroy(self, request: Request, company_id: str, subscription_id: str) -> Response:
        """Deletes a subscription made by mistake; refused with `subscription_in_use` while an event of it counts."""
        subscriptions.delete_subscription(
            company=self.company, context=self.audit_context, subscription_id=subscription_id
        )
        return Response(SUCCESS)

    def with_current_terms(self) -> SubscriptionQuerySet:
        """Return subscriptions annotated with today's terms."""
        return Subscription.objects.for_company(self.company.id).with_standing(self.company.id, self.today)

    def get_answered_row(self, row: Subscription) -> Subscription:
        return self.with_current_terms().filter(id=row.id).first() or row


class SubscriptionEventFilter(django_filters.FilterSet):
    subscriptionId = IdFilter("subscription_id")  # noqa: N815
    customerId = IdFilter("subscription__customer_id")  # noqa: N815
    startDate = DateFilter("effective_date", lookup_expr="gte")  # noqa: N815
    endDate = DateFilter("effective_date", lookup_expr="lte")  # noqa: N815
    externalId = django_filters.CharFilter("external_id", max_length=MAX_ID_LENGTH)  # noqa: N815

    class Meta:
        model = SubscriptionEvent
        fields: list[str] = []


class SubscriptionEventViewSet(CompanyViewSet):
    schema_tags = ["Subscriptions"]
    shape = serializers.EventSerializer
    uploads = frozenset({"import_events"})
    refuses = {"create": [ExternalIdTaken]}
    permission_for = {**SUBSCRIPTION_PERMISSIONS, "import_events": Permission.SUBSCRIPTIONS_WRITE}
    filterset_class = SubscriptionEventFilter

    @extend_schema(parameters=PAGING_PARAMETERS)
    def list(self, request: Request, company_id: str) -> Response:
        """Events as they were created, latest first; retracted ones too."""
        rows = filter_by_query(self, SubscriptionEventFilter, SubscriptionEvent.objects.for_company(self.company.id))
        return self.respond_with_page(rows, order=("-id",))

    @extend_schema(request=serializers.NewEvent)
    def create(self, request: Request, company_id: str) -> Response:
        """From a day on a subscription is worth an amount each interval; 0 ends it.

        Of two events of one subscription on one day the later-created one counts.
        """
        values = serializers.to_event_values(self.parse_body(serializers.NewEvent))
        event = subscriptions.create_subscription_event(company=self.company, context=self.audit_context, values=values)
        return self.respond_created(event)

    def retrieve(self, request: Request, company_id: str, subscription_event_id: str) -> Response:
        """One event; a retracted one too, with the time at which it was."""
        return self.respond_with_one(self.get_row(SubscriptionEvent.objects, subscription_event_id))

    def destroy(self, request: Request, company_id: str, subscription_event_id: str) -> Response:
        """Retracts an event: nothing counts it any more, and the list still shows it."""
        subscriptions.retract_subscription_event(
            company=self.company, context=self.audit_context, event_id=subscription_event_id
        )
        return Response(SUCCESS)

    @extend_schema(
        operation_id="importSubscriptionEvents",
        request=serializers.EventImport,
        responses=serializers.EventImportResult,
    )
    def import_events(self, request: Request, company_id: str) -> Response:
        """Imports up to 100,000 events, all or none of them unless `onError` is `skip`.

        An item names its subscription by `subscriptionId`, or by `subscriptionExternalId`; a subscription, customer or
        product that is missing is then created. An item whose `externalId` is known is a duplicate. Of two events of
        one subscription on one day the one further down counts. `dryRun` says what would happen and stores nothing.
        """
        bulk_request = EVENT_IMPORT_BODY.parse(read_json_body(request))
        self.report_ignored_fields(bulk_request.ignored)
        outcome = event_importing.import_subscription_events(
            company=self.company, context=self.audit_context, request=bulk_request
        )
        return Response(
            {
                "success": True,
                "count": outcome.count,
                "duplicates": outcome.duplicates,
                "errors": build_row_errors(outcome.errors),
                "dryRun": outcome.dry_run,
            }
        )
