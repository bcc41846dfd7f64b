"""REST: exports of transactions as tables and journals."""

import datetime as dt
from datetime import date
from types import ModuleType
from typing import Any

from django.utils.translation import gettext as _
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema
from rest_framework.request import Request

from companies.api.company_viewset import CompanyViewSet
from companies.api.pagination import refuse_repeated_parameters
from companies.errors import ValidationFailed
from companies.pages.csv_files import CSV_CONTENT_TYPE
from companies.permissions import Permission
from ledger.exports import file_responses
from ledger.exports.calc import beancount, hledger
from ledger.exports.journals import JournalDaysOutOfRange, stream_journal
from ledger.exports.serializers import ExportWindow
from ledger.exports.transaction_table import (
    ROW_KINDS,
    TransactionTable,
    build_transaction_table,
    parse_row_kind,
    stream_csv,
)
from ledger.exports.workbooks import TooManyRows, stream_xlsx
from ledger.models import Transaction
from ledger.recognition.actions.postings import MissingRateError
from ledger.transactions.filters import FILTER_NAMES, FILTER_PARAMETERS, SORT_PARAMETER, build_filterset, parse_sort

WINDOW_PARAMETERS = [
    OpenApiParameter("startDate", dt.date, description="First day, included; first transaction if left out."),
    OpenApiParameter("endDate", dt.date, description="Last day, included; today or last transaction if left out."),
]
ROWS_PARAMETER = OpenApiParameter(
    "rows",
    enum=list(ROW_KINDS),
    description="One row per transaction (`transactions`, the default), or per categorization with category, P&L "
    "line, tax, period and counterparty.",
)
FILE_RESPONSE = OpenApiResponse({"type": "string", "format": "binary", "maxLength": 2**31 - 1})
TABLE_ACTIONS = ("transactions_csv", "transactions_xlsx")
JOURNAL_ACTIONS = ("beancount", "hledger")


class FileExportViewSet(CompanyViewSet):
    """Base of views that return a file in its own type, whatever the request accepts."""

    schema_tags = ["Exports"]

    def perform_content_negotiation(self, request: Request, force: Any = False) -> Any:
        return self.get_renderers()[0], "*/*"


class ExportViewSet(FileExportViewSet):
    permission_for = dict.fromkeys((*TABLE_ACTIONS, *JOURNAL_ACTIONS), Permission.TRANSACTIONS_READ)
    errors_for = {
        "transactions_xlsx": [TooManyRows],
        **dict.fromkeys(JOURNAL_ACTIONS, (JournalDaysOutOfRange, MissingRateError)),
    }

    @extend_schema(
        operation_id="exportTransactionsCsv",
        parameters=[*FILTER_PARAMETERS, SORT_PARAMETER, ROWS_PARAMETER],
        responses={(200, "text/csv"): FILE_RESPONSE},
    )
    def transactions_csv(self, request: Request, company_id: str) -> Any:
        """Export transactions as a CSV file in UTF-8, with the filters and order of the list.

        The amount of a categorization includes its tax. Names that you may not see are left out. Text that a
        spreadsheet would calculate starts with an apostrophe."""
        return file_responses.build_streaming_response(
            stream_csv(self.parse_table()), name="transactions.csv", content_type=CSV_CONTENT_TYPE
        )

    @extend_schema(
        operation_id="exportTransactionsXlsx",
        parameters=[*FILTER_PARAMETERS, SORT_PARAMETER, ROWS_PARAMETER],
        responses={(200, file_responses.XLSX_CONTENT_TYPE): FILE_RESPONSE},
    )
    def transactions_xlsx(self, request: Request, company_id: str) -> Any:
        """Export transactions as an Excel workbook with one sheet, with the filters and order of the list.

        Dates and amounts have their types; amounts of more than 15 digits are text."""
        return file_responses.build_streaming_response(
            stream_xlsx(self.parse_table()), name="transactions.xlsx", content_type=file_responses.XLSX_CONTENT_TYPE
        )

    @extend_schema(
        operation_id="exportBeancountJournal",
        parameters=WINDOW_PARAMETERS,
        responses={(200, "text/plain"): FILE_RESPONSE},
    )
    def beancount(self, request: Request, company_id: str) -> Any:
        """Export booked transactions as a Beancount journal.

        Each transaction is an entry; both legs of a transfer are one. Entries balance accounts against P&L lines and
        categories. The journal starts with opening balances, asserts balances at month ends and contains prices of
        foreign currencies."""
        return self.export_journal("journal.beancount", beancount)

    @extend_schema(
        operation_id="exportHledgerJournal",
        parameters=WINDOW_PARAMETERS,
        responses={(200, "text/plain"): FILE_RESPONSE},
    )
    def hledger(self, request: Request, company_id: str) -> Any:
        """Export booked transactions as an hledger journal, with the same entries as for Beancount."""
        return self.export_journal("journal.hledger", hledger)

    def parse_table(self) -> TransactionTable:
        """Return the table that the query asks for. Raises ValidationError, FieldErrors."""
        params = self.request.query_params.copy()
        refuse_repeated_parameters(params, allowed=FILTER_NAMES)
        row_kind = parse_row_kind(params.pop("rows", []))
        order = parse_sort("".join(params.pop("sort", ["-date"])))
        company_id = self.company.id
        filterset = build_filterset(Transaction.objects.for_company(company_id), params, company_id=company_id)
        cleaned = filterset.form.cleaned_data
        check_export_days(cleaned.get("startDate"), cleaned.get("endDate"))
        return build_transaction_table(
            company=self.company, rows=filterset.qs, order=order, permissions=self.access.permissions, row_kind=row_kind
        )

    def export_journal(self, name: str, syntax: ModuleType) -> Any:
        self.allow_parameters("startDate", "endDate")
        window = self.parse_body(ExportWindow, data=self.request.query_params.dict())
        start, end = window.get("start_date"), window.get("end_date")
        check_export_days(start, end)
        pieces = stream_journal(
            company=self.company,
            syntax=syntax,
            start=start,
            end=end,
            today=self.today,
            permissions=self.access.permissions,
        )
        return file_responses.build_streaming_response(
            pieces, name=name, content_type=file_responses.JOURNAL_CONTENT_TYPE
        )


def check_export_days(start: date | None, end: date | None) -> None:
    """Check that the end is not before the start. Raises ValidationFailed with `end_before_start`."""
    if start and end and end < start:
        raise ValidationFailed([("#/endDate", "end_before_start", _("Must not be before startDate."))])
