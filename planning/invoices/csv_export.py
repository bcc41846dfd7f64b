"""Receivables and payables as a CSV file for spreadsheets."""

import datetime as dt
import io
from collections.abc import Iterator
from decimal import Decimal
from typing import IO, Any

from django.http import FileResponse

from companies.models import IdIn
from companies.pages.csv_files import API_CSV_FORMAT, CSV_CONTENT_TYPE, CsvFormat, format_csv_cell
from companies.permissions import Permission, Permissions
from ledger.bulk.spool import open_snapshot
from ledger.exports.file_responses import build_file_response
from ledger.transactions.pages.labels import HIDDEN_NAME
from planning.invoices.csv_columns import STATE_LABELS, get_invoice_headings
from planning.invoices.queries import InvoiceStanding, build_invoice_standings
from planning.models import InvoiceKind
from planning.planned_transactions.fields import INVOICE_TEXTS

ORDER = ("invoice_date", "id")
ROWS_PER_STATEMENT = 1000


def build_invoice_csv_response(
    rows: Any,
    *,
    kind: InvoiceKind,
    as_of: dt.date,
    permissions: Permissions,
    csv_format: CsvFormat = API_CSV_FORMAT,
) -> FileResponse:
    """Return the response with a CSV file of rows of `filter_invoices`, oldest invoice first."""

    def write(file: IO[bytes]) -> None:
        text = io.TextIOWrapper(file, encoding="utf-8", newline="", write_through=True)
        writer = csv_format.create_writer(text)
        writer.writerow(get_invoice_headings().values())
        with open_snapshot():
            for standing in iter_invoice_standings(rows, as_of=as_of):
                cells = build_csv_cells(standing, permissions=permissions)
                writer.writerow([format_csv_cell(cell, csv_format) for cell in cells])
        text.detach()

    return build_file_response(write, name=f"{kind}.csv", content_type=CSV_CONTENT_TYPE)


def iter_invoice_standings(rows: Any, *, as_of: dt.date) -> Iterator[InvoiceStanding]:
    """Yield the invoices with their standing; at most three statements for each thousand."""
    ids = list(rows.order_by(*ORDER).values_list("id", flat=True))
    for start in range(0, len(ids), ROWS_PER_STATEMENT):
        some_ids = ids[start : start + ROWS_PER_STATEMENT]
        yield from build_invoice_standings(list(rows.filter(IdIn("id", some_ids)).order_by(*ORDER)), as_of=as_of)


def build_csv_cells(standing: InvoiceStanding, *, permissions: Permissions) -> list[Any]:
    """Return the cells of an invoice, in the order of the headings."""
    planned, external_data = standing.planned, standing.planned.external_data or {}
    counterparty = planned.counterparty.name if planned.counterparty else ""
    if counterparty and Permission.COUNTERPARTIES_READ not in permissions:
        counterparty = str(HIDDEN_NAME)
    return [
        external_data.get("invoice_number") or "",
        counterparty,
        planned.name,
        planned.invoice_date,
        standing.due_date,
        standing.expected.date,
        Decimal(standing.amount_value),
        Decimal(standing.settled_amount_value),
        Decimal(standing.written_off_amount_value),
        Decimal(standing.open_amount_value),
        planned.amount_currency,
        STATE_LABELS[standing.state],
        standing.days_overdue,
        planned.external_invoice_id or "",
        *(getattr(planned, text.column) or "" for text in INVOICE_TEXTS),
        planned.id,
    ]
