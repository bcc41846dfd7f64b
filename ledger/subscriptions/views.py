"""Subscriptions, their events, and imports of events."""

import django_filters
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from companies.api.document.schema import PAGING
from companies.api.filters import DayFilter, IdFilter, filtered
from companies.api.rendering import json_body
from companies.api.serializers import SUCCESS
from companies.api.viewsets import CompanyViewSet, granted
from companies.permissions import Permission
from ledger.bulk.shapes import row_errors
from ledger.models import ExternalIdTaken, Subscription, SubscriptionEvent, SubscriptionInUse
from ledger.models.subscriptions import SubscriptionQuerySet
from ledger.subscriptions import importing as event_importing
from ledger.subscriptions import serializers as shapes
from ledger.subscriptions import subscribing
from ledger.subscriptions.bodies import EVENTS
from ledger.subscriptions.importing import LONGEST_ID

SUBSCRIPTIONS = granted(reads=Permission.SUBSCRIPTIONS_READ, writes=Permission.SUBSCRIPTIONS_WRITE)


class SubscriptionFilter(django_filters.FilterSet):
    customerId = IdFilter("customer_id")  # noqa: N815 - parameters are named as on the wire
    productId = IdFilter("product_id")  # noqa: N815
    externalId = django_filters.CharFilter("external_id", max_length=LONGEST_ID)  # noqa: N815

    class Meta:
        model = Subscription
        fields: list[str] = []


class SubscriptionViewSet(CompanyViewSet):
    schema_tags = ["Subscriptions"]
    resource, shape = Subscription, shapes.SubscriptionShape
    refuses = {**dict.fromkeys(("create", "update"), (ExternalIdTaken,)), "destroy": [SubscriptionInUse]}
    permission_for = SUBSCRIPTIONS
    filterset_class = SubscriptionFilter

    @extend_schema(parameters=PAGING)
    def list(self, request: Request, company_id: str) -> Response:
        """Subscriptions with what they are worth today, latest first."""
        return self.page(filtered(self, SubscriptionFilter, self.worth_today()), order=("-id",))

    def create(self, request: Request, company_id: str) -> Response:
        """A customer subscribes, to a product perhaps; events then say to how much and from when."""
        values = self.parsed(shapes.SubscriptionShape)
        subscription = subscribing.add_subscription(company=self.company, stamp=self.stamp, values=values)
        return self.created(subscription)

    def retrieve(self, request: Request, company_id: str, subscription_id: str) -> Response:
        """One subscription with what it is worth today."""
        return self.one(self.found(self.worth_today(), subscription_id))

    def update(self, request: Request, company_id: str, subscription_id: str) -> Response:
        """Changes the fields that are sent; another customer takes the events over. What it is worth events say."""
        values = self.parsed(shapes.SubscriptionShape, partial=True)
        row = subscribing.change_subscription(
            company=self.company, stamp=self.stamp, subscription_id=subscription_id, values=values
        )
        return self.one(row)

    def destroy(self, request: Request, company_id: str, subscription_id: str) -> Response:
        """Deletes a subscription made by mistake; refused with `subscription_in_use` while an event of it counts."""
        subscribing.delete_subscription(company=self.company, stamp=self.stamp, subscription_id=subscription_id)
        return Response(SUCCESS)

    def worth_today(self) -> SubscriptionQuerySet:
        return Subscription.objects.of(self.company.id).with_standing(self.company.id, self.today)

    def as_answered(self, row: Subscription) -> Subscription:
        return self.worth_today().filter(id=row.id).first() or row


class SubscriptionEventFilter(django_filters.FilterSet):
    subscriptionId = IdFilter("subscription_id")  # noqa: N815
    customerId = IdFilter("subscription__customer_id")  # noqa: N815
    startDate = DayFilter("effective_date", lookup_expr="gte")  # noqa: N815
    endDate = DayFilter("effective_date", lookup_expr="lte")  # noqa: N815
    externalId = django_filters.CharFilter("external_id", max_length=LONGEST_ID)  # noqa: N815

    class Meta:
        model = SubscriptionEvent
        fields: list[str] = []


class SubscriptionEventViewSet(CompanyViewSet):
    schema_tags = ["Subscriptions"]
    shape = shapes.EventShape
    uploads = frozenset({"import_events"})
    refuses = {"create": [ExternalIdTaken]}
    permission_for = {**SUBSCRIPTIONS, "import_events": Permission.SUBSCRIPTIONS_WRITE}
    filterset_class = SubscriptionEventFilter

    @extend_schema(parameters=PAGING)
    def list(self, request: Request, company_id: str) -> Response:
        """Events as they were created, latest first; retracted ones too."""
        rows = filtered(self, SubscriptionEventFilter, SubscriptionEvent.objects.of(self.company.id))
        return self.page(rows, order=("-id",))

    @extend_schema(request=shapes.NewEvent)
    def create(self, request: Request, company_id: str) -> Response:
        """From a day on a subscription is worth an amount each interval; 0 ends it.

        Of two events of one subscription on one day the later-created one counts.
        """
        values = shapes.event_values(self.parsed(shapes.NewEvent))
        event = subscribing.add_event(company=self.company, stamp=self.stamp, values=values)
        return self.created(event)

    def retrieve(self, request: Request, company_id: str, subscription_event_id: str) -> Response:
        """One event; a retracted one too, with the time at which it was."""
        return self.one(self.found(SubscriptionEvent.objects, subscription_event_id))

    def destroy(self, request: Request, company_id: str, subscription_event_id: str) -> Response:
        """Retracts an event: nothing counts it any more, and the list still shows it."""
        subscribing.retract_event(company=self.company, stamp=self.stamp, event_id=subscription_event_id)
        return Response(SUCCESS)

    @extend_schema(
        operation_id="importSubscriptionEvents",
        request=shapes.EventImport,
        responses=shapes.EventImportResult,
    )
    def import_events(self, request: Request, company_id: str) -> Response:
        """Imports up to 100,000 events, all or none of them unless `onError` is `skip`.

        An item names its subscription by `subscriptionId`, or by `subscriptionExternalId`; a subscription, customer or
        product that is missing is then created. An item whose `externalId` is known is a duplicate. Of two events of
        one subscription on one day the one further down counts. `dryRun` says what would happen and stores nothing.
        """
        asked = EVENTS.read(json_body(request))
        self.ignored(asked.ignored)
        outcome = event_importing.import_events(company=self.company, stamp=self.stamp, request=asked)
        return Response(
            {
                "success": True,
                "count": outcome.count,
                "duplicates": outcome.duplicates,
                "errors": row_errors(outcome.errors),
                "dryRun": outcome.dry_run,
            }
        )
