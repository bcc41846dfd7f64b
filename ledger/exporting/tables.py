"""Transactions as tables that spreadsheets open: one row a transaction, or one row a categorization."""

import csv
import io
import operator
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import groupby, islice
from typing import IO, Any

from django.core.exceptions import EmptyResultSet
from django.utils.translation import get_language, gettext, override
from django.utils.translation import gettext_lazy as _

from companies.api import replica
from companies.errors import FieldErrors
from companies.models import Company
from companies.pages.downloads import harmless
from companies.permissions import Permissions
from ledger.bulk.reading import one_moment, read_rows, spool_rows
from ledger.exporting.decimals import decimals_of
from ledger.models import Categorization, PlType
from ledger.transactions.pages.words import COLUMNS as TRANSACTION_HEADINGS
from ledger.transactions.pages.words import LINES, NOT_SHOWN, SOURCES, Names, names_in

TRANSACTIONS, CATEGORIZATIONS = ROW_KINDS = ("transactions", "categorizations")
CATEGORIZATION_HEADINGS: dict[str, Any] = {
    **{
        name: TRANSACTION_HEADINGS[name] for name in ("date", "account", "from_to", "description", "amount", "currency")
    },
    "category": _("Category"),
    "line": _("P&L line"),
    "tax": _("Tax"),
    "service_start": _("Service period start"),
    "service_end": _("Service period end"),
    "counterparty": _("Counterparty"),
    "transaction_amount": _("Transaction amount"),
    **{name: TRANSACTION_HEADINGS[name] for name in ("status", "pending", "transfer", "source", "notes")},
    **{name: TRANSACTION_HEADINGS[name] for name in ("external_id", "id")},
}
"""``amount`` is the categorization's, with the tax in it."""
HEADINGS = {TRANSACTIONS: TRANSACTION_HEADINGS, CATEGORIZATIONS: CATEGORIZATION_HEADINGS}
ROWS_AT_ONCE = 500

COLUMNS = (
    *("id", "date", "account_id", "from_to", "description", "amount_value", "amount_currency", "categorized_value"),
    *("pending", "transferred_value", "source", "notes", "external_id"),
)
_ROWS = """
    SELECT t.id, t.date, t.account_id, t.from_to, t.description,
           round(t.amount_value, {decimals}),
           t.amount_currency, t.amount_value <> t.categorized_value, t.pending, t.transferred_value <> 0, t.source,
           t.notes, t.external_id, c.category_id, p.name, c.id, concat({lines}) {more}
      FROM ({rows}) AS t ({columns})
      {join} ledger_categorization AS c ON c.company_id = %s AND c.transaction_id = t.id
      LEFT JOIN ledger_counterparty AS p ON p.company_id = %s AND p.id = c.counterparty_id
     ORDER BY {order}, c.position, c.id
"""
_LINES = ", ".join(f"c.{line} IS NOT NULL" for line in PlType.values)  # as one word, such as tfffftf
_DECIMALS = decimals_of("t.amount_currency")
_OF_CATEGORIZATION = "".join(
    [
        f", round(c.value, {_DECIMALS}), round(c.pass_through_tax, {_DECIMALS})",
        ", c.computed_start_date, c.computed_end_date",
        *(f", round(c.{line}, {_DECIMALS})" for line in PlType.values),
    ]
)
_JOINS = {TRANSACTIONS: ("LEFT JOIN", ""), CATEGORIZATIONS: ("JOIN", _OF_CATEGORIZATION)}
_ORDERS = {
    "date": "t.date",
    "id": "t.id",
    "amount_value": "t.amount_value",
}
FIRST_PART, PART, BEHIND_PART = 13, 15, 17  # where the columns of a categorization begin, its id, and what is behind


def check_row_kind(given: Sequence[str]) -> str:
    """Return what a table has one row of, by the values of the parameter ``rows``.

    Raises:
        FieldErrors: with invalid_filter for anything but one of ROW_KINDS.
    """
    kind = given[0] if len(given) == 1 else "" if given else TRANSACTIONS
    if kind not in ROW_KINDS:
        detail = gettext("Must be one of {words}.").format(words=", ".join(ROW_KINDS))
        raise FieldErrors([("#/rows", "invalid_filter", detail)])
    return kind


@dataclass(frozen=True, slots=True)
class Table:
    """A table that is asked for, in the words of the reader, who may see what ``permissions`` say.

    ``rows`` is a query set of the company's transactions, ``order`` one of ``ORDERS``, ``row_kind`` one of ROW_KINDS.
    """

    company: Company
    rows: Any
    order: Sequence[str]
    permissions: Permissions
    row_kind: str
    headings: list[str]
    language: str | None

    @property
    def columns(self) -> list[str]:
        """The names of the columns, which are the same in every language."""
        return list(HEADINGS[self.row_kind])

    def count_rows(self) -> int:
        if self.row_kind == TRANSACTIONS:
            return int(self.rows.order_by().count())
        ids = self.rows.order_by().values("id")
        return int(Categorization.objects.of(self.company.id).filter(transaction_id__in=ids).count())

    def read(self) -> Generator[tuple[str, ...]]:
        """Yield the values of the columns as text; the first step reads the database, all as of one moment."""
        file, words = replica.answered(self.spool)
        with closing(file):
            parts = read_rows(file)
            if self.row_kind == CATEGORIZATIONS:
                yield from map(words.describe_categorization, parts)
            else:
                for _id, of_transaction in groupby(parts, key=operator.itemgetter(0)):
                    yield words.describe_transaction(list(of_transaction))

    def spool(self) -> tuple[IO[bytes], "Words"]:
        """Copy a row for each categorization into a temporary file; with one row each, those without any too."""
        with one_moment(), override(self.language):
            words = Words(names_in(self.company, permissions=self.permissions))
            try:
                asked, params = self.rows.order_by().values_list(*COLUMNS).query.sql_with_params()
            except EmptyResultSet:
                return io.BytesIO(), words
            join, more = _JOINS[self.row_kind]
            columns = [f"{_ORDERS[name.lstrip('-')]}{' DESC' if name[:1] == '-' else ''}" for name in self.order]
            query = _ROWS.format(
                decimals=_DECIMALS,
                lines=_LINES,
                more=more,
                rows=asked,
                join=join,
                columns=", ".join(COLUMNS),
                order=", ".join(columns),
            )
            return spool_rows(query, [*params, self.company.id, self.company.id]), words


def build_table(
    *, company: Company, rows: Any, order: Sequence[str], permissions: Permissions, row_kind: str = TRANSACTIONS
) -> Table:
    """Describe a table in the language in force."""
    headings = [str(heading) for heading in HEADINGS[row_kind].values()]
    return Table(company, rows, order, permissions, row_kind, headings, get_language())


def stream_csv(table: Table) -> Iterator[bytes]:
    """Yield a table as CSV in UTF-8: the headings at once, then the rows."""
    text = io.StringIO(newline="")
    writer = csv.writer(text)

    def take() -> bytes:
        taken = text.getvalue().encode()
        text.seek(0)
        text.truncate()
        return taken

    writer.writerow(table.headings)
    yield take()
    with closing(table.read()) as rows:
        while some := list(islice(rows, ROWS_AT_ONCE)):
            writer.writerows(some)
            yield take()


# ---------------------------------------------------------------------------------------------- rows


class Words:
    """What ids and flags of rows are called; each is looked up once."""

    def __init__(self, names: Names):
        self.accounts = {str(each): harmless(row.name) for each, row in names.accounts.items()}
        self.categories = {str(each): harmless(row.called) for each, row in names.categories.items()}
        self.sees_counterparties = names.sees_counterparties
        self.lines: dict[str, str] = {}
        self.labels = [str(LINES[line]) for line in PlType]
        self.sources = {str(source): str(label) for source, label in SOURCES.items()}
        self.states = {"t": gettext("open"), "f": gettext("closed")}
        self.flags = {"t": gettext("yes"), "f": ""}
        self.hidden = str(NOT_SHOWN)

    def describe_transaction(self, parts: Sequence[list[str]]) -> tuple[str, ...]:
        """One row of all parts of a transaction; what it has several of is in one cell, with semicolons."""
        first = parts[0]
        (each, day, account, who, text, amount, currency, is_open, pending, moved, source, notes, outside) = first[
            :FIRST_PART
        ]
        told = self.part(first) if first[PART] else ("", "", "")
        if len(parts) > 1:
            every = [self.part(part) for part in parts]
            told = (
                together(each[0] for each in every),
                self.lines_of(merged(parts)),
                together(each[2] for each in every),
            )
        return (
            day,
            self.accounts.get(account, self.hidden),
            who and harmless(who),
            text and harmless(text),
            amount,
            currency,
            self.states[is_open],
            *told,
            self.flags[pending],
            self.flags[moved],
            self.sources[source],
            notes and harmless(notes),
            outside and harmless(outside),
            each,
        )

    def describe_categorization(self, row: list[str]) -> tuple[str, ...]:
        """One row of a categorization, with the columns of its transaction."""
        (transaction_id, day, account, who, text, whole, currency, is_open, pending, moved, source, notes, outside) = (
            row[:FIRST_PART]
        )
        category, lines, counterparty = self.part(row)
        amount, tax, start, end, *by_line = row[BEHIND_PART:]
        if ";" in lines:  # several lines: each with its amount
            amounts = zip(self.labels, by_line, strict=True)
            lines = "; ".join(f"{label} {value}" for label, value in amounts if value)
        return (
            day,
            self.accounts.get(account, self.hidden),
            who and harmless(who),
            text and harmless(text),
            amount,
            currency,
            category,
            lines,
            tax,
            start,
            end,
            counterparty,
            whole,
            self.states[is_open],
            self.flags[pending],
            self.flags[moved],
            self.sources[source],
            notes and harmless(notes),
            outside and harmless(outside),
            transaction_id,
        )

    def part(self, row: list[str]) -> tuple[str, str, str]:
        """Category, lines and counterparty of a part."""
        category, name, _id, flags = row[FIRST_PART:BEHIND_PART]
        person = name and (harmless(name) if self.sees_counterparties else self.hidden)
        return self.categories.get(category, self.hidden), self.lines_of(flags), person

    def lines_of(self, flags: str) -> str:
        if flags not in self.lines:
            self.lines[flags] = "; ".join(label for label, flag in zip(self.labels, flags, strict=True) if flag == "t")
        return self.lines[flags]


def together(words: Iterable[str]) -> str:
    """Each once, in their order."""
    return "; ".join(dict.fromkeys(word for word in words if word))


def merged(parts: Sequence[list[str]]) -> str:
    """The lines that any of the parts has."""
    return "".join(
        "t" if "t" in flags else "f" for flags in zip(*(part[BEHIND_PART - 1] for part in parts), strict=True)
    )
