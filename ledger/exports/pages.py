"""Pages: download the transaction list as a table, or the booked transactions as a journal."""

from collections.abc import Callable, Iterator
from datetime import date
from types import ModuleType
from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.http import Http404
from django.shortcuts import redirect
from django.urls import reverse

from companies.errors import DomainError
from companies.pages.context import CompanyPage, company_page, get_error_message
from companies.pages.csv_files import CSV_CONTENT_TYPE, get_page_csv_format
from companies.permissions import Permission
from ledger.exports import file_responses
from ledger.exports.calc import beancount, hledger
from ledger.exports.journals import stream_journal
from ledger.exports.transaction_table import TransactionTable, build_transaction_table, parse_row_kind, stream_csv
from ledger.exports.workbooks import stream_xlsx
from ledger.transactions.pages.transaction_list import TransactionListQuery, parse_list_query, render_transaction_list

TABLE_FORMATS: dict[str, tuple[Callable[[TransactionTable], Iterator[bytes]], str]] = {
    "transactions.csv": (stream_csv, CSV_CONTENT_TYPE),
    "transactions.xlsx": (stream_xlsx, file_responses.XLSX_CONTENT_TYPE),
}
JOURNAL_SYNTAXES: dict[str, ModuleType] = {"journal.beancount": beancount, "journal.hledger": hledger}


@company_page(reads=Permission.TRANSACTIONS_READ)
def export_transactions_page(page: CompanyPage, name: str) -> Any:
    """Download a table of all matching transactions, or a journal of the filtered days."""
    if name not in TABLE_FORMATS and name not in JOURNAL_SYNTAXES:
        raise Http404
    query = page.request.GET.copy()
    row_kinds = query.pop("rows", [])
    list_query = parse_list_query(page, query)
    if not list_query.form.is_valid:
        return render_transaction_list(page)
    try:
        return build_export_response(page, name, list_query, row_kind=parse_row_kind(row_kinds))
    except DomainError as error:
        messages.error(page.request, get_error_message(error))
        filters = urlencode([(each, value) for each, values in list_query.filters.lists() for value in values])
        return redirect(f"{reverse('transactions', args=[page.company.id])}?{filters}")


def build_export_response(page: CompanyPage, name: str, list_query: TransactionListQuery, *, row_kind: str) -> Any:
    """Build the response with the named file.

    Raises:
        TooManyRows, JournalDaysOutOfRange, MissingRateError.
    """
    company, permissions = page.company, page.access.permissions
    if name in TABLE_FORMATS:
        stream, content_type = TABLE_FORMATS[name]
        table = build_transaction_table(
            company=company,
            rows=list_query.rows,
            order=list_query.order,
            permissions=permissions,
            row_kind=row_kind,
            csv_format=get_page_csv_format(),
        )
        return file_responses.build_streaming_response(stream(table), name=name, content_type=content_type)
    pieces = stream_journal(
        company=company,
        syntax=JOURNAL_SYNTAXES[name],
        start=get_filter_day(list_query, "startDate"),
        end=get_filter_day(list_query, "endDate"),
        today=page.today,
        permissions=permissions,
    )
    return file_responses.build_streaming_response(pieces, name=name, content_type=file_responses.JOURNAL_CONTENT_TYPE)


def get_filter_day(list_query: TransactionListQuery, name: str) -> date | None:
    """Return a day of the filters, which have been validated."""
    text = list_query.filters.get(name)
    return date.fromisoformat(text) if text else None
