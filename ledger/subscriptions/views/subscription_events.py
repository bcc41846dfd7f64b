"""REST: events of subscriptions, and imports of events."""

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
from ledger.models import ExternalIdTaken, SubscriptionEvent
from ledger.subscriptions.actions import subscription_event_import, subscription_events
from ledger.subscriptions.actions.subscription_event_import import MAX_ID_LENGTH
from ledger.subscriptions.serializers import subscription_events as serializers
from ledger.subscriptions.serializers.event_import_body import EVENT_IMPORT_BODY


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
    errors_for = {"create": [ExternalIdTaken]}
    permission_for = {
        **build_crud_permissions(reads=Permission.SUBSCRIPTIONS_READ, writes=Permission.SUBSCRIPTIONS_WRITE),
        "import_events": Permission.SUBSCRIPTIONS_WRITE,
    }
    filterset_class = SubscriptionEventFilter

    @extend_schema(parameters=PAGING_PARAMETERS)
    def list(self, request: Request, company_id: str) -> Response:
        """List events in order of creation, newest first, including retracted ones."""
        rows = filter_by_query(self, SubscriptionEventFilter, SubscriptionEvent.objects.for_company(self.company.id))
        return self.respond_with_page(rows, order=("-id",))

    @extend_schema(request=serializers.NewEvent)
    def create(self, request: Request, company_id: str) -> Response:
        """Set the amount of a subscription per interval from a date. Amount 0 ends it.

        If a subscription has two events on the same date, the one created later counts.
        """
        values = serializers.to_event_values(self.parse_body(serializers.NewEvent))
        event = subscription_events.create_subscription_event(
            company=self.company, context=self.audit_context, values=values
        )
        return self.respond_created(event)

    def retrieve(self, request: Request, company_id: str, subscription_event_id: str) -> Response:
        """Get an event, including a retracted one."""
        return self.respond_with_one(self.get_row(SubscriptionEvent.objects, subscription_event_id))

    def destroy(self, request: Request, company_id: str, subscription_event_id: str) -> Response:
        """Retract an event. It no longer counts but stays in the list."""
        subscription_events.retract_subscription_event(
            company=self.company, context=self.audit_context, event_id=subscription_event_id
        )
        return Response(SUCCESS)

    @extend_schema(
        operation_id="importSubscriptionEvents",
        request=serializers.EventImport,
        responses=serializers.EventImportResult,
    )
    def import_events(self, request: Request, company_id: str) -> Response:
        """Import up to 100,000 events, all or none unless `onError` is `skip`.

        Identify the subscription by `subscriptionId` or `subscriptionExternalId`. With the latter, missing
        subscriptions, customers and products are created. An item with an existing `externalId` is a duplicate. If a
        subscription has two events on the same date, the last item counts. `dryRun` returns the result without storing
        it.
        """
        bulk_request = EVENT_IMPORT_BODY.parse(read_json_body(request))
        self.report_ignored_fields(bulk_request.ignored)
        outcome = subscription_event_import.import_subscription_events(
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
