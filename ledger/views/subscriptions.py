"""Subscriptions, their events, and imports of events."""

import django_filters
from drf_spectacular.utils import extend_schema
from rest_framework.exceptions import ParseError
from rest_framework.request import Request
from rest_framework.response import Response

from companies.api.errors import entry
from companies.api.filters import IdFilter, filtered
from companies.api.rendering import json_body
from companies.api.schema import PAGING
from companies.api.serializers import SUCCESS, Success
from companies.api.viewsets import CompanyViewSet
from companies.permissions import Permission
from ledger import event_importing, importing, subscribing
from ledger.bulk_body import NotJson
from ledger.event_body import EVENTS
from ledger.event_importing import LONGEST_ID
from ledger.models import Subscription, SubscriptionEvent
from ledger.serializers import subscriptions as shapes


class SubscriptionFilter(django_filters.FilterSet):
    customerId = IdFilter("customer_id")  # noqa: N815 - parameters are named as on the wire
    productId = IdFilter("product_id")  # noqa: N815
    externalId = django_filters.CharFilter("external_id", max_length=LONGEST_ID)  # noqa: N815

    class Meta:
        model = Subscription
        fields: list[str] = []


class SubscriptionViewSet(CompanyViewSet):
    schema_tags = ["Subscriptions"]
    refuses = {"create": [subscribing.ExternalIdTaken]}
    permission_for = {
        **dict.fromkeys(("list", "retrieve"), Permission.SUBSCRIPTIONS_READ),
        "create": Permission.SUBSCRIPTIONS_WRITE,
    }
    filterset_class = SubscriptionFilter

    @extend_schema(parameters=PAGING, responses=shapes.SubscriptionShape(many=True))
    def list(self, request: Request, company_id: str) -> Response:
        """Subscriptions with what they are worth today, latest first."""
        rows = Subscription.objects.of(self.company.id).with_standing(self.company.id, self.now.date())
        return self.page(filtered(self, SubscriptionFilter, rows), shapes.SubscriptionShape, order=("-id",))

    @extend_schema(request=shapes.SubscriptionShape, responses={201: shapes.SubscriptionShape})
    def create(self, request: Request, company_id: str) -> Response:
        """A customer subscribes, to a product perhaps; events then say to how much and from when."""
        values = self.parsed(shapes.SubscriptionShape)
        subscription = subscribing.add_subscription(company=self.company, stamp=self.stamp, values=values)
        location = f"/companies/{self.company.id}/subscriptions/{subscription.id}"
        return self.one(subscription, shapes.SubscriptionShape, status=201, location=location)

    @extend_schema(responses=shapes.SubscriptionShape)
    def retrieve(self, request: Request, company_id: str, subscription_id: str) -> Response:
        """One subscription with what it is worth today."""
        row = self.found(Subscription.objects.with_standing(self.company.id, self.now.date()), subscription_id)
        return self.one(row, shapes.SubscriptionShape)


class SubscriptionEventFilter(django_filters.FilterSet):
    subscriptionId = IdFilter("subscription_id")  # noqa: N815
    customerId = IdFilter("subscription__customer_id")  # noqa: N815
    startDate = django_filters.DateFilter("effective_date", lookup_expr="gte")  # noqa: N815
    endDate = django_filters.DateFilter("effective_date", lookup_expr="lte")  # noqa: N815
    externalId = django_filters.CharFilter("external_id", max_length=LONGEST_ID)  # noqa: N815

    class Meta:
        model = SubscriptionEvent
        fields: list[str] = []


class SubscriptionEventViewSet(CompanyViewSet):
    schema_tags = ["Subscriptions"]
    refuses = {"create": [subscribing.ExternalIdTaken]}
    permission_for = {
        **dict.fromkeys(("list", "retrieve"), Permission.SUBSCRIPTIONS_READ),
        **dict.fromkeys(("create", "destroy", "import_events"), Permission.SUBSCRIPTIONS_WRITE),
    }
    filterset_class = SubscriptionEventFilter

    @extend_schema(parameters=PAGING, responses=shapes.EventShape(many=True))
    def list(self, request: Request, company_id: str) -> Response:
        """Events as they were created, latest first; retracted ones too."""
        rows = filtered(self, SubscriptionEventFilter, SubscriptionEvent.objects.of(self.company.id))
        return self.page(rows, shapes.EventShape, order=("-id",))

    @extend_schema(
        request=shapes.NewEvent,
        responses={201: shapes.EventShape},
    )
    def create(self, request: Request, company_id: str) -> Response:
        """From a day on a subscription is worth an amount each interval; 0 ends it.

        Of two events of one subscription on one day the later-created one counts.
        """
        values = shapes.event_values(self.parsed(shapes.NewEvent))
        event = subscribing.add_event(company=self.company, stamp=self.stamp, values=values)
        location = f"/companies/{self.company.id}/subscription_events/{event.id}"
        return self.one(event, shapes.EventShape, status=201, location=location)

    @extend_schema(responses=shapes.EventShape)
    def retrieve(self, request: Request, company_id: str, subscription_event_id: str) -> Response:
        """One event; a retracted one too, with the time at which it was."""
        return self.one(self.found(SubscriptionEvent.objects, subscription_event_id), shapes.EventShape)

    @extend_schema(responses=Success)
    def destroy(self, request: Request, company_id: str, subscription_event_id: str) -> Response:
        """Retracts an event: nothing counts it any more, and the list still shows it."""
        event = self.found(SubscriptionEvent.objects, subscription_event_id)
        self.unless_stale(event)
        subscribing.retract_event(company=self.company, stamp=self.stamp, event=event)
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
        try:
            asked = EVENTS.read(json_body(request))
        except NotJson:
            raise ParseError("The body is not JSON.", code="invalid_json") from None
        self.ignored(asked.ignored)
        outcome = event_importing.import_events(company=self.company, stamp=self.stamp, request=asked)
        errors = outcome.errors[: importing.MOST_ERRORS]
        return Response(
            {
                "success": True,
                "count": outcome.count,
                "duplicates": outcome.duplicates,
                "errors": [entry(*each) for each in errors],
                "dryRun": outcome.dry_run,
            }
        )

    def changes_company(self, response: Response) -> bool:
        stored = self.action != "import_events" or (response.data["count"] and not response.data["dryRun"])
        return super().changes_company(response) and bool(stored)
