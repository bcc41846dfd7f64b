"""Exports: the books as files."""

import datetime as dt
from datetime import date
from types import ModuleType
from typing import Any

from django.utils.translation import gettext as _
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema
from rest_framework.request import Request

from companies.api.filters import refuse_repeated
from companies.api.viewsets import CompanyViewSet
from companies.errors import FieldErrors
from companies.permissions import Permission
from ledger.exporting import files
from ledger.exporting.calc import beancount, hledger
from ledger.exporting.journals import DaysOutOfRange, stream_journal
from ledger.exporting.shapes import ExportWindow
from ledger.exporting.tables import ROW_KINDS, Table, build_table, check_row_kind, stream_csv
from ledger.exporting.workbooks import TooManyRows, stream_xlsx
from ledger.models import Transaction
from ledger.recognition.posting import NoRate
from ledger.transactions.filters import NAMES, PARAMETERS, filtered, order_of
from ledger.transactions.views import SORT

WINDOW = [
    OpenApiParameter("startDate", dt.date, description="first day, included; left out: the first that there is"),
    OpenApiParameter("endDate", dt.date, description="last day, included; left out: today, or the last that there is"),
]
ROWS = OpenApiParameter(
    "rows",
    enum=list(ROW_KINDS),
    description="what the table has one row of: `transactions` where it is left out, or `categorizations`, each with "
    "its amount, category, P&L line, tax, service period and counterparty",
)
FILE = OpenApiResponse({"type": "string", "format": "binary", "maxLength": 2**31 - 1})
TABLES = ("transactions_csv", "transactions_xlsx")
JOURNALS = ("beancount", "hledger")


class ExportingViewSet(CompanyViewSet):
    """A file is answered as what it is, whatever the caller would accept."""

    schema_tags = ["Exports"]

    def perform_content_negotiation(self, request: Request, force: Any = False) -> Any:
        return self.get_renderers()[0], "*/*"


class ExportViewSet(ExportingViewSet):
    permission_for = dict.fromkeys((*TABLES, *JOURNALS), Permission.TRANSACTIONS_READ)
    refuses = {
        "transactions_xlsx": [TooManyRows],
        **dict.fromkeys(JOURNALS, (DaysOutOfRange, NoRate)),
    }

    @extend_schema(
        operation_id="exportTransactionsCsv",
        parameters=[*PARAMETERS, SORT, ROWS],
        responses={(200, "text/csv"): FILE},
    )
    def transactions_csv(self, request: Request, company_id: str) -> Any:
        """Transactions as a CSV file in UTF-8, one row a transaction or a categorization, with the filters and the
        order of the list. A categorization's amount includes its tax. Names are those that the caller may see; a text
        that a spreadsheet would calculate has an apostrophe before it."""
        return files.stream_file(stream_csv(self.parse_table()), name="transactions.csv", kind=files.CSV)

    @extend_schema(
        operation_id="exportTransactionsXlsx",
        parameters=[*PARAMETERS, SORT, ROWS],
        responses={(200, files.XLSX): FILE},
    )
    def transactions_xlsx(self, request: Request, company_id: str) -> Any:
        """The same as a workbook with one sheet, in which days and amounts are such. An amount of more than 15 digits,
        which no spreadsheet can keep, is text."""
        return files.stream_file(stream_xlsx(self.parse_table()), name="transactions.xlsx", kind=files.XLSX)

    @extend_schema(operation_id="exportBeancountJournal", parameters=WINDOW, responses={(200, "text/plain"): FILE})
    def beancount(self, request: Request, company_id: str) -> Any:
        """What was booked as a journal for Beancount: an entry for each transaction, and one for both legs of a
        transfer. Accounts stand against lines of the profit and loss with their categories, and are asserted at the end
        of each month; what was there before the window is an opening entry. Foreign currencies have their prices."""
        return self.journal("journal.beancount", beancount)

    @extend_schema(operation_id="exportHledgerJournal", parameters=WINDOW, responses={(200, "text/plain"): FILE})
    def hledger(self, request: Request, company_id: str) -> Any:
        """The same as a journal for hledger."""
        return self.journal("journal.hledger", hledger)

    def parse_table(self) -> Table:
        """Return the table that the query asks for. Raises ValidationError, FieldErrors."""
        params = self.request.query_params.copy()
        refuse_repeated(params, but=NAMES)
        row_kind = check_row_kind(params.pop("rows", []))
        order = order_of("".join(params.pop("sort", ["-date"])))
        company_id = self.company.id
        found = filtered(Transaction.objects.of(company_id), params, company_id=company_id)
        cleaned = found.form.cleaned_data
        check_order(cleaned.get("startDate"), cleaned.get("endDate"))
        return build_table(
            company=self.company, rows=found.qs, order=order, permissions=self.access.permissions, row_kind=row_kind
        )

    def journal(self, name: str, syntax: ModuleType) -> Any:
        self.only_parameters("startDate", "endDate")
        asked = self.parsed(ExportWindow, data=self.request.query_params.dict())
        start, end = asked.get("start_date"), asked.get("end_date")
        check_order(start, end)
        pieces = stream_journal(
            company=self.company,
            syntax=syntax,
            start=start,
            end=end,
            today=self.today,
            permissions=self.access.permissions,
        )
        return files.stream_file(pieces, name=name, kind=files.JOURNAL)


def check_order(start: date | None, end: date | None) -> None:
    """Raises FieldErrors with end_before_start."""
    if start and end and end < start:
        raise FieldErrors([("#/endDate", "end_before_start", _("endDate lies before startDate."))])
