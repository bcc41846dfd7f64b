"""Transactions as a table that spreadsheets open: one row each, whatever the number of its parts."""

import csv
import io
import operator
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from itertools import groupby
from typing import IO, Any

from django.core.exceptions import EmptyResultSet
from django.utils.translation import gettext

from companies.models import Company
from companies.pages.downloads import harmless
from companies.permissions import Permissions
from ledger.bulk.reading import copied, one_moment
from ledger.exporting.decimals import decimals_of
from ledger.models import PlType
from ledger.transactions.pages.words import COLUMNS as HEADER
from ledger.transactions.pages.words import LINES, NOT_SHOWN, SOURCES, Names, names_in

AMOUNT = list(HEADER).index("amount")

COLUMNS = (
    *("id", "date", "account_id", "from_to", "description", "amount_value", "amount_currency", "categorized_value"),
    *("pending", "transferred_value", "source", "notes", "external_id"),
)
_ROWS = """
    SELECT t.id, t.date, t.account_id, t.from_to, t.description,
           round(t.amount_value, {decimals}),
           t.amount_currency, t.amount_value <> t.categorized_value, t.pending, t.transferred_value <> 0, t.source,
           t.notes, t.external_id, c.category_id, p.name, c.id, concat({lines})
      FROM ({rows}) AS t ({columns})
      LEFT JOIN ledger_categorization AS c ON c.company_id = %s AND c.transaction_id = t.id
      LEFT JOIN ledger_counterparty AS p ON p.company_id = %s AND p.id = c.counterparty_id
     ORDER BY {order}, c.position, c.id
"""
_LINES = ", ".join(f"c.{line} IS NOT NULL" for line in PlType.values)  # as one word, such as tfffftf
_DECIMALS = decimals_of("t.amount_currency")
_ORDERS = {
    "date": "t.date",
    "id": "t.id",
    "amount_value": "t.amount_value",
}
FIRST_PART, PART = 13, 15  # where the columns of a part begin, and where its id is


def write_csv(file: IO[bytes], *, company: Company, rows: Any, order: Sequence[str], permissions: Permissions) -> None:
    """In UTF-8. ``rows`` is a query set of the company's transactions, ``order`` one of ``ORDERS``."""
    text = io.TextIOWrapper(file, encoding="utf-8", newline="")
    writer = csv.writer(text)
    writer.writerow(header())
    with table(company=company, rows=rows, order=order, permissions=permissions) as found:
        writer.writerows(found)
    text.detach()


def header() -> list[str]:
    """In the words of the reader."""
    return [str(each) for each in HEADER.values()]


# ---------------------------------------------------------------------------------------------- rows


@contextmanager
def table(
    *, company: Company, rows: Any, order: Sequence[str], permissions: Permissions
) -> Iterator[Iterator[tuple[str, ...]]]:
    """The values of HEADER as text; what a transaction has several of is in one cell, with semicolons."""
    with one_moment(), closing(read(company=company, rows=rows, order=order)) as found:
        words = Words(names_in(company, permissions=permissions))
        yield (words.row(list(parts)) for _id, parts in groupby(found, key=operator.itemgetter(0)))


def read(*, company: Company, rows: Any, order: Sequence[str]) -> Generator[list[str]]:
    """A row for each part of a transaction, or one where it has none; one statement."""
    try:
        asked, params = rows.order_by().values_list(*COLUMNS).query.sql_with_params()
    except EmptyResultSet:
        return
    columns = [f"{_ORDERS[name.lstrip('-')]}{' DESC' if name.startswith('-') else ''}" for name in order]
    query = _ROWS.format(
        decimals=_DECIMALS, lines=_LINES, rows=asked, columns=", ".join(COLUMNS), order=", ".join(columns)
    )
    with closing(copied(query, [*params, company.id, company.id])) as found:
        yield from found


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

    def row(self, parts: Sequence[list[str]]) -> tuple[str, ...]:
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

    def part(self, row: list[str]) -> tuple[str, str, str]:
        """Category, lines and counterparty of a part."""
        category, name, _id, flags = row[FIRST_PART:]
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
    return "".join("t" if "t" in flags else "f" for flags in zip(*(part[-1] for part in parts), strict=True))
