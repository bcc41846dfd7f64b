"""Exports from the list of transactions, with the filters or the days in force."""

from collections.abc import Callable
from datetime import date
from functools import partial
from types import ModuleType
from typing import IO, Any
from urllib.parse import urlencode

from django.contrib import messages
from django.http import Http404
from django.shortcuts import redirect
from django.urls import reverse

from companies.errors import Refusal
from companies.pages.visits import Visit, company_page
from companies.permissions import Permission
from ledger.exporting import files
from ledger.exporting.calc import beancount, hledger
from ledger.exporting.journals import write_journal
from ledger.exporting.tables import write_csv
from ledger.exporting.workbooks import write_xlsx
from ledger.transactions.pages.listing import Asked, asked, show_list

TABLES: dict[str, tuple[Callable[..., None], str]] = {
    "transactions.csv": (write_csv, files.CSV),
    "transactions.xlsx": (write_xlsx, files.XLSX),
}
JOURNALS: dict[str, ModuleType] = {"journal.beancount": beancount, "journal.hledger": hledger}


@company_page(reads=Permission.TRANSACTIONS_READ)
def download(visit: Visit, name: str) -> Any:
    """A table of all that match, or a journal of all that was booked on the days that are asked for."""
    if name not in TABLES and name not in JOURNALS:
        raise Http404
    wanted = asked(visit)
    if not wanted.form.valid:
        return show_list(visit)
    try:
        return file_of(visit, name, wanted)
    except Refusal as refused:
        messages.error(visit.request, refused.detail)
        query = urlencode([(each, value) for each, values in wanted.filters.lists() for value in values])
        return redirect(f"{reverse('transactions', args=[visit.company.id])}?{query}")


def file_of(visit: Visit, name: str, wanted: Asked) -> Any:
    known: dict[str, Any] = {"company": visit.company, "permissions": visit.access.permissions}
    write: Callable[[IO[bytes]], None]
    if name in TABLES:
        table, kind = TABLES[name]
        write = partial(table, rows=wanted.rows, order=wanted.order, **known)
    else:
        days: dict[str, Any] = {
            short: day_of(wanted, long) for short, long in (("start", "startDate"), ("end", "endDate"))
        }
        kind = files.JOURNAL
        write = partial(write_journal, syntax=JOURNALS[name], today=visit.today, **days, **known)
    return files.download(write, name=name, kind=kind)


def day_of(wanted: Asked, name: str) -> date | None:
    """A day of the filters, which were found right."""
    text = wanted.filters.get(name)
    return date.fromisoformat(text) if text else None
