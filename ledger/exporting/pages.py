"""Exports from the list of transactions, with the filters or the days in force."""

from collections.abc import Callable, Iterator
from datetime import date
from types import ModuleType
from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.http import Http404
from django.shortcuts import redirect
from django.urls import reverse

from companies.errors import Refusal
from companies.pages.visits import Visit, company_page, told
from companies.permissions import Permission
from ledger.exporting import files
from ledger.exporting.calc import beancount, hledger
from ledger.exporting.journals import stream_journal
from ledger.exporting.tables import Table, build_table, check_row_kind, stream_csv
from ledger.exporting.workbooks import stream_xlsx
from ledger.transactions.pages.listing import Asked, asked, show_list

TABLES: dict[str, tuple[Callable[[Table], Iterator[bytes]], str]] = {
    "transactions.csv": (stream_csv, files.CSV),
    "transactions.xlsx": (stream_xlsx, files.XLSX),
}
JOURNALS: dict[str, ModuleType] = {"journal.beancount": beancount, "journal.hledger": hledger}


@company_page(reads=Permission.TRANSACTIONS_READ)
def download(visit: Visit, name: str) -> Any:
    """A table of all that match, or a journal of all that was booked on the days that are asked for."""
    if name not in TABLES and name not in JOURNALS:
        raise Http404
    query = visit.request.GET.copy()
    given = query.pop("rows", [])
    wanted = asked(visit, query)
    if not wanted.form.valid:
        return show_list(visit)
    try:
        return build_export(visit, name, wanted, row_kind=check_row_kind(given))
    except Refusal as refused:
        messages.error(visit.request, told(refused))
        filters = urlencode([(each, value) for each, values in wanted.filters.lists() for value in values])
        return redirect(f"{reverse('transactions', args=[visit.company.id])}?{filters}")


def build_export(visit: Visit, name: str, wanted: Asked, *, row_kind: str) -> Any:
    """Return the answer with the file of that name. Raises TooManyRows, DaysOutOfRange, NoRate."""
    company, permissions = visit.company, visit.access.permissions
    if name in TABLES:
        stream, kind = TABLES[name]
        table = build_table(
            company=company, rows=wanted.rows, order=wanted.order, permissions=permissions, row_kind=row_kind
        )
        return files.stream_file(stream(table), name=name, kind=kind)
    pieces = stream_journal(
        company=company,
        syntax=JOURNALS[name],
        start=day_of(wanted, "startDate"),
        end=day_of(wanted, "endDate"),
        today=visit.today,
        permissions=permissions,
    )
    return files.stream_file(pieces, name=name, kind=files.JOURNAL)


def day_of(wanted: Asked, name: str) -> date | None:
    """A day of the filters, which were found right."""
    text = wanted.filters.get(name)
    return date.fromisoformat(text) if text else None
