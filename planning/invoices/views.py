"""Endpoints of receivables, payables and aging."""

import datetime as dt
from itertools import pairwise
from typing import Any
from uuid import UUID

from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema
from rest_framework.parsers import BaseParser
from rest_framework.request import Request
from rest_framework.response import Response

from companies.api.openapi.schema import PAGING_PARAMETERS
from companies.api.pagination import paginate_by_keyset
from companies.api.rendering import UploadParser
from companies.errors import ValidationFailed
from companies.pages.csv_files import CSV_CONTENT_TYPE
from ledger.bank_statements.errors import ColumnsUnknown
from ledger.files.actions import clean_filename
from ledger.files.content_type import UnsafeXml
from ledger.imports.actions.import_undo import ImportAlreadyUndone
from ledger.imports.file_errors import SeveralSheets, TableTooLarge, TooManyRows, UnreadableTable
from ledger.models import Counterparty
from ledger.money.rates import get_rate_table
from ledger.recognition.actions.postings import MissingRateError
from planning.base_views import READ, WRITE, PlanningViewSet
from planning.body_checks import BodyChecks
from planning.invoice_files.actions import DuplicateInvoice
from planning.invoices import serializers
from planning.invoices.actions.import_undo import InvoicesSettled, undo_invoice_import
from planning.invoices.actions.invoice_imports import import_invoices
from planning.invoices.csv_export import build_invoice_csv_response
from planning.invoices.queries import (
    DEFAULT_INTERVAL,
    build_invoice_standings,
    compute_aging,
    filter_invoices,
)
from planning.models import InvoiceImport, InvoiceKind, PlannedSource

ORDER = ("invoice_date", "id")
FILTER_PARAMETERS = [
    OpenApiParameter("counterpartyId", UUID, description="Only invoices of this counterparty."),
    OpenApiParameter(
        "state",
        str,
        enum=serializers.INVOICE_STATES,
        description="Only invoices in this state at asOf; if omitted, all with an open amount.",
    ),
    OpenApiParameter("asOf", dt.date, description="Day, YYYY-MM-DD; today if left out."),
]
INVOICE_PARAMETERS = [*PAGING_PARAMETERS, *FILTER_PARAMETERS]
FILE_RESPONSE = OpenApiResponse({"type": "string", "format": "binary", "maxLength": 2**31 - 1})


class InvoiceViewSet(PlanningViewSet):
    schema_tags = ["Receivables and payables"]
    errors_for = {"aging": [MissingRateError]}
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
        rows, as_of = self.filter_invoices(kind, "limit", "cursor")
        rows_of_page, headers = paginate_by_keyset(self.request, rows, order=ORDER)
        standings = build_invoice_standings(rows_of_page, as_of=as_of)
        return Response(serializers.InvoiceSerializer(standings, many=True).data, headers=headers)

    def filter_invoices(self, kind: InvoiceKind, *other_parameters: str) -> tuple[Any, dt.date]:
        """Return the invoices that the query asks for, and their day.

        Raises:
            ValidationFailed: a parameter is wrong.
        """
        query = self.request.query_params
        self.allow_parameters("counterpartyId", "state", "asOf", *other_parameters)
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
        return rows, as_of

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


class InvoiceExportViewSet(InvoiceViewSet):
    schema_tags = ["Exports"]
    errors_for = {}
    permission_for = dict.fromkeys(("receivables_csv", "payables_csv"), READ)

    def perform_content_negotiation(self, request: Request, force: Any = False) -> Any:
        """Return the file in its own type, whatever the request accepts."""
        return self.get_renderers()[0], "*/*"

    @extend_schema(
        operation_id="exportReceivablesCsv",
        parameters=FILTER_PARAMETERS,
        responses={(200, CSV_CONTENT_TYPE.partition(";")[0]): FILE_RESPONSE},
    )
    def receivables_csv(self, request: Request, company_id: str) -> Any:
        """Export receivables as a CSV file in UTF-8, with the filters of the list.

        Text that a spreadsheet would calculate starts with an apostrophe."""
        return self.export_invoices("receivables")

    @extend_schema(
        operation_id="exportPayablesCsv",
        parameters=FILTER_PARAMETERS,
        responses={(200, CSV_CONTENT_TYPE.partition(";")[0]): FILE_RESPONSE},
    )
    def payables_csv(self, request: Request, company_id: str) -> Any:
        """Export payables as a CSV file in UTF-8, with the filters of the list. Amounts are negative."""
        return self.export_invoices("payables")

    def export_invoices(self, kind: InvoiceKind) -> Any:
        rows, as_of = self.filter_invoices(kind)
        return build_invoice_csv_response(rows, kind=kind, as_of=as_of, permissions=self.access.permissions)


class InvoiceImportViewSet(PlanningViewSet):
    schema_tags = ["Imports"]
    uploads = frozenset({"import_receivables", "import_payables"})
    errors_for = dict.fromkeys(
        ("import_receivables", "import_payables"),
        (DuplicateInvoice, ColumnsUnknown, UnreadableTable, TooManyRows, TableTooLarge, SeveralSheets, UnsafeXml),
    )
    permission_for = dict.fromkeys(("import_receivables", "import_payables"), WRITE)

    def get_parsers(self) -> list[BaseParser]:
        return [UploadParser()]

    @extend_schema(
        operation_id="importReceivables",
        request={"multipart/form-data": serializers.InvoiceUpload},
        responses=serializers.InvoiceImportResult,
    )
    def import_receivables(self, request: Request, company_id: str) -> Response:
        """Import up to 10,000 open invoices to customers from a CSV file or workbook, all or none.

        Columns are found by their headings: invoice number, customer, invoice date and amount; also due date, payment
        terms, open amount, currency, description, reference and status. Customers are found by name, or created. With a
        column of open amounts, these are imported; rows without an open amount are left out. Negative amounts are
        credit notes. Errors have pointers such as `#/invoices/0/dueDate`, counted from the first row below the
        headings. The same number twice is 409 `duplicate_invoice`. If dates or amounts can be read in two ways, the
        answer is 400 `ambiguous` with a pointer to the option to send.
        """
        return self.import_invoices("receivables")

    @extend_schema(
        operation_id="importPayables",
        request={"multipart/form-data": serializers.InvoiceUpload},
        responses=serializers.InvoiceImportResult,
    )
    def import_payables(self, request: Request, company_id: str) -> Response:
        """Import up to 10,000 open invoices of vendors from a CSV file or workbook, all or none.

        As for receivables, with the vendor in place of the customer; the same number of one vendor twice is
        `duplicate_invoice`. Positive amounts are what you owe. If there are negative ones, send `negativeAmounts`.
        """
        return self.import_invoices("payables")

    def import_invoices(self, kind: InvoiceKind) -> Response:
        form, file = self.parse_upload(serializers.FORM_FIELDS)
        outcome = import_invoices(
            company=self.company,
            context=self.audit_context,
            kind=kind,
            content=file.read(),
            filename=clean_filename(file.name),
            source=PlannedSource.MANUAL if self.caller.kind == "session" else PlannedSource.API,
            options=serializers.parse_import_options(form),
        )
        return Response(serializers.invoice_import_outcome_to_dict(outcome))


class InvoiceImportHistoryViewSet(PlanningViewSet):
    schema_tags = ["Imports"]
    schema_noun = "invoiceImport"
    resource = InvoiceImport
    errors_for = {"destroy": [ImportAlreadyUndone, InvoicesSettled]}
    permission_for = {"list": READ, "retrieve": READ, "destroy": WRITE}

    @extend_schema(parameters=PAGING_PARAMETERS, responses=serializers.InvoiceImportSerializer(many=True))
    def list(self, request: Request, company_id: str) -> Response:
        """List the company's imports of receivables and payables, newest first, including undone ones."""
        self.allow_parameters("limit", "cursor")
        rows = InvoiceImport.objects.for_company(self.company.id)
        return self.respond_with_page(rows, serializers.InvoiceImportSerializer, order=("-created_time", "-id"))

    @extend_schema(responses=serializers.InvoiceImportSerializer)
    def retrieve(self, request: Request, company_id: str, invoice_import_id: str) -> Response:
        """Get an import of receivables or payables with its counts."""
        row = self.get_row(InvoiceImport.objects, invoice_import_id)
        return self.respond_with_one(row, serializers.InvoiceImportSerializer)

    @extend_schema(responses={200: serializers.InvoiceImportUndoResult})
    def destroy(self, request: Request, company_id: str, invoice_import_id: str) -> Response:
        """Undo an import: delete its invoices, and the counterparties that it created if nothing else uses them.

        If one of its invoices is settled in full or in part, or written off, nothing is deleted: 409
        `invoices_settled` with up to 100 `plannedTransactionIds`. An import can be undone once (409
        `import_already_undone`).
        """
        outcome = undo_invoice_import(company=self.company, context=self.audit_context, import_id=invoice_import_id)
        return Response(serializers.invoice_undo_outcome_to_dict(outcome))
