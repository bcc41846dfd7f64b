"""The transactions of a company: the file of the list, and a new one."""

from collections.abc import Iterator
from typing import Any
from uuid import UUID

from django.http import HttpResponse

from companies.api.pagination import after
from companies.pages.downloads import csv_download
from companies.pages.typed import Typed
from companies.pages.visits import Visit, company_page
from companies.permissions import Permission
from ledger.calc.money import round_half_up
from ledger.models import Categorization, Transaction
from ledger.transactions import booking
from ledger.transactions.pages.form import NEW, read_form, show_form
from ledger.transactions.pages.listing import Asked, asked, show_list
from ledger.transactions.pages.words import LINES, SOURCES, Names, names_for

ROWS_AT_ONCE = 1000
HEADER = (
    *("Date", "Account", "From/to", "Description", "Amount", "Currency", "Status", "Categories", "P&L lines"),
    *("Counterparties", "Pending", "Transfer", "Source", "Notes", "External id", "Id"),
)


@company_page(reads=Permission.TRANSACTIONS_WRITE, writes=Permission.TRANSACTIONS_WRITE)
def new(visit: Visit) -> HttpResponse:
    """Books one by hand, as POST transactions does."""
    if not visit.sent:
        return show_form(visit, Typed(values=NEW | {"date": visit.today.isoformat()}))
    form = read_form(visit.request.POST)
    if form.valid:
        with visit.sending(form):
            row = booking.book(company=visit.company, stamp=visit.stamp, values=form.data)
            return visit.done("The transaction was booked.", "transaction", transaction_id=row.id)
    return show_form(visit, form)


# ---------------------------------------------------------------------------------------------- the file


@company_page(reads=Permission.TRANSACTIONS_READ)
def download(visit: Visit) -> Any:
    """All that match, however many: a thousand rows at a time are read and sent."""
    wanted = asked(visit)
    if not wanted.form.valid:
        return show_list(visit)
    return csv_download(table(visit, wanted), name=f"transactions-{visit.today.isoformat()}.csv")


def table(visit: Visit, wanted: Asked) -> Iterator[tuple[Any, ...]]:
    yield HEADER
    names = names_for(visit)
    for chunk in chunks(wanted):
        parts = parts_by_transaction(visit, [row.id for row in chunk])
        for row in chunk:
            yield file_row(row, parts.get(row.id, []), names)


def chunks(wanted: Asked) -> Iterator[list[Transaction]]:
    """Keyset by keyset, so that no cursor of the database stays open while somebody's line is slow."""
    rows = wanted.rows.order_by(*wanted.order)
    chunk = list(rows[:ROWS_AT_ONCE])
    while chunk:
        yield chunk
        last = [getattr(chunk[-1], name.lstrip("-")) for name in wanted.order]
        chunk = list(rows.filter(after(wanted.order, last))[:ROWS_AT_ONCE]) if len(chunk) == ROWS_AT_ONCE else []


def parts_by_transaction(visit: Visit, ids: list[UUID]) -> dict[UUID, list[Categorization]]:
    rows = Categorization.objects.of(visit.company.id).filter(transaction_id__in=ids).select_related("counterparty")
    found: dict[UUID, list[Categorization]] = {}
    for part in rows.order_by("position", "id"):
        found.setdefault(part.transaction_id, []).append(part)
    return found


def file_row(row: Transaction, parts: list[Categorization], names: Names) -> tuple[Any, ...]:
    """The values of HEADER; what a transaction has several of is in one cell, with semicolons."""
    lines = dict.fromkeys(LINES[line] for part in parts for line in part.split)  # type: ignore[index]
    people = dict.fromkeys(names.counterparty(part.counterparty) for part in parts if part.counterparty)
    return (
        row.date,
        names.account(row.account_id),
        row.from_to,
        row.description,
        round_half_up(row.amount_value, row.amount_currency),
        row.amount_currency,
        "open" if row.is_open else "closed",
        "; ".join(dict.fromkeys(names.category(part.category_id) for part in parts)),
        "; ".join(lines),
        "; ".join(people),
        yes(row.pending),
        yes(row.transferred_value != 0),
        SOURCES[row.source],  # type: ignore[index]
        row.notes or "",
        row.external_id or "",
        str(row.id),
    )


def yes(flag: bool) -> str:  # noqa: FBT001
    return "yes" if flag else ""
