"""Endpoints of receivables, payables and aging."""

import datetime as dt
from itertools import pairwise
from uuid import UUID

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from companies.api.openapi.schema import PAGING_PARAMETERS
from companies.api.pagination import paginate_by_keyset
from companies.errors import ValidationFailed
from ledger.models import Counterparty
from ledger.money.rates import get_rate_table
from ledger.recognition.actions.postings import MissingRateError
from planning.base_views import READ, PlanningViewSet
from planning.body_checks import BodyChecks
from planning.invoices import serializers
from planning.invoices.queries import (
    DEFAULT_INTERVAL,
    InvoiceKind,
    build_invoice_standings,
    compute_aging,
    filter_invoices,
)

ORDER = ("invoice_date", "id")
INVOICE_PARAMETERS = [
    *PAGING_PARAMETERS,
    OpenApiParameter("counterpartyId", UUID, description="Only invoices of this counterparty."),
    OpenApiParameter(
        "state",
        str,
        enum=serializers.INVOICE_STATES,
        description="Only invoices in this state at asOf. Left out, all with an open amount.",
    ),
    OpenApiParameter("asOf", dt.date, description="Day, YYYY-MM-DD; today if left out."),
]


class InvoiceViewSet(PlanningViewSet):
    schema_tags = ["Receivables and payables"]
    refuses = {"aging": [MissingRateError]}
    permission_for = dict.fromkeys(("receivables", "payables", "aging"), READ)

    @extend_schema(
        parameters=INVOICE_PARAMETERS,
        responses=serializers.InvoiceSerializer(many=True),
        operation_id="listReceivables",
    )
    def receivables(self, request: Request, company_id: str) -> Response:
        """List what customers owe on a day, oldest invoice first.

        A receivable is a planned transaction without recurrence, with `invoiceDate` and money in. Credit notes to
        customers are negative receivables. Past days are answered as they were: an invoice counts from its date, a
        settlement from the date of its transaction.
        """
        return self.list_invoices("receivables")

    @extend_schema(
        parameters=INVOICE_PARAMETERS,
        responses=serializers.InvoiceSerializer(many=True),
        operation_id="listPayables",
    )
    def payables(self, request: Request, company_id: str) -> Response:
        """List what the company owes on a day, oldest invoice first.

        Amounts are negative. Credit notes of vendors are positive payables.
        """
        return self.list_invoices("payables")

    def list_invoices(self, kind: InvoiceKind) -> Response:
        query = self.request.query_params
        self.allow_parameters("counterpartyId", "state", "asOf", "limit", "cursor")
        filters = {name: query[name] for name in ("counterpartyId", "state", "asOf") if name in query}
        values = self.parse_body(serializers.InvoiceQuery, data=filters)
        self.check_counterparty(values.get("counterparty_id"))
        as_of = values.get("as_of", self.today)
        rows = filter_invoices(
            self.company,
            kind=kind,
            as_of=as_of,
            state=values.get("state"),
            counterparty_id=values.get("counterparty_id"),
        )
        rows_of_page, headers = paginate_by_keyset(self.request, rows, order=ORDER)
        standings = build_invoice_standings(rows_of_page, as_of=as_of)
        return Response(serializers.InvoiceSerializer(standings, many=True).data, headers=headers)

    def check_counterparty(self, counterparty_id: UUID | None) -> None:
        """Check that the company has the counterparty of a filter.

        Raises:
            ValidationFailed: `unknown_id`.
        """
        checks = BodyChecks(self.company)
        checks.add_reference(Counterparty, counterparty_id, "#/counterpartyId")
        checks.raise_if_invalid()

    @extend_schema(
        operation_id="agingByCounterparty", request=serializers.AgingQuery, responses=serializers.AgingSerializer
    )
    def aging(self, request: Request, company_id: str) -> Response:
        """Get open receivables or payables by age, in the base currency at the rate of the day.

        Ages count from the due date; the first bucket is 1 to 30 days. Past days are answered as they were. Payables
        are negative.
        """
        values = self.parse_body(serializers.AgingQuery)
        interval = values.get("interval") or list(DEFAULT_INTERVAL)
        if any(later <= earlier for earlier, later in pairwise(interval)):
            raise ValidationFailed([("#/interval", "not_in_order", "Days must increase.")])
        self.check_counterparty(values.get("counterparty_id"))
        aging = compute_aging(
            self.company,
            kind=values["kind"],
            as_of=values.get("as_of", self.today),
            interval=interval,
            rates=get_rate_table(),
            counterparty_id=values.get("counterparty_id"),
        )
        return Response(serializers.aging_to_dict(aging))
