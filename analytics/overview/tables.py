"""The numbers behind a chart, kept once as values: the page and the file to download write the same ones."""

import csv
import io
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from enum import Enum
from html import escape
from typing import NamedTuple

from django.utils.functional import Promise
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from analytics.overview.amounts import signed, whole
from companies.locales import current
from companies.pages.downloads import harmless
from ledger.calc.money import format_amount
from ledger.calc.months import format_month


class Variance(NamedTuple):
    """What an amount is more than its plan, and whether that is good for the result."""

    amount: Decimal
    favourable: bool | None


Cell = Decimal | int | Variance | None
NOTHING = "–"


class Kind(Enum):
    MONEY = "money"
    CHANGE = "change"  # money, with a plus on the page
    VARIANCE = "variance"  # the same, with what it means for the result
    COUNT = "count"
    PERCENT = "percent"  # hundredths with two decimals


@dataclass(frozen=True, slots=True)
class Column:
    """``series`` is what draws it in the chart: a click there leads where its cell does."""

    label: str | Promise
    kind: Kind = Kind.MONEY
    series: str = ""


class Row(NamedTuple):
    """``key`` is what the file says of the row, ``label`` what the page does. ``link`` leads to what the row is of, and
    ``links`` to what each cell adds up, "" where that has no page."""

    key: str
    label: str
    cells: Sequence[Cell]
    sum: bool = False
    link: str = ""
    links: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Table:
    """``first`` heads the rows' names. A ``newest_first`` one shows its rows from the last to the first."""

    first: str
    columns: Sequence[Column]
    rows: Sequence[Row]
    currency: str
    newest_first: bool = False

    @property
    def head(self) -> list[str]:
        return [self.first, *(str(column.label) for column in self.columns)]

    @property
    def series(self) -> str:
        """Which series each column is of, "-" for none; "" where no column is of any."""
        return " ".join(column.series or "-" for column in self.columns) if any(c.series for c in self.columns) else ""

    @property
    def body(self) -> SafeString:
        """The rows as HTML. A template's loop over a year of days would take most of the page's time."""
        kinds = [column.kind for column in self.columns]
        rows = reversed(self.rows) if self.newest_first else self.rows
        return SafeString("".join(self._row(row, kinds) for row in rows))

    def _row(self, row: Row, kinds: Sequence[Kind]) -> str:
        texts = map(self.text, row.cells, kinds)  # digits and signs, nothing to escape
        if row.links:
            texts = map(linked, texts, row.links)
        cells = "</td><td>".join(texts)
        start = '<tr class="sum">' if row.sum else "<tr>"
        label = linked(escape(row.label), row.link)
        return f'{start}<th scope="row">{label}</th><td>{cells}</td></tr>'

    def text(self, cell: Cell, kind: Kind) -> str:
        """A cell as people read it."""
        if cell is None:
            return NOTHING
        if isinstance(cell, Variance):
            return format_variance(cell, self.currency)
        if isinstance(cell, int):
            return current().number(cell)
        if kind is Kind.PERCENT:
            return signed(cell, f"{current().number(abs(cell), 2)} %")
        return whole(cell, self.currency, plus=kind is Kind.CHANGE)

    @property
    def is_empty(self) -> bool:
        """Whether it says nothing but zero."""
        return not any(cell for row in self.rows for cell in row.cells)

    def csv(self) -> str:
        """The same rows as RFC 4180 has them: ISO dates, plain decimals with a point; empty where nothing is known."""
        file = io.StringIO()
        writer = csv.writer(file)
        writer.writerow([self.first, *map(self.heading, self.columns)])
        for row in self.rows:
            writer.writerow([harmless(row.key), *map(self.plain, row.cells, (column.kind for column in self.columns))])
        return file.getvalue()

    def heading(self, column: Column) -> str:
        unit = {Kind.PERCENT: " (%)", Kind.COUNT: ""}.get(column.kind, f" ({self.currency})")
        return f"{column.label}{unit}"

    def plain(self, cell: Cell, kind: Kind) -> str:
        if cell is None:
            return ""
        if isinstance(cell, Variance):
            return format_amount(cell.amount, self.currency)
        return str(cell) if isinstance(cell, int) or kind is Kind.PERCENT else format_amount(cell, self.currency)


def format_variance(variance: Variance, currency: str) -> str:
    """Format a variance as HTML: the amount, and in a word what it means for the result."""
    text = whole(variance.amount, currency, plus=True)
    if variance.favourable is None:
        return text
    word, tone = (_("favourable"), "good") if variance.favourable else (_("adverse"), "bad")
    return f'<span class="{tone}">{text} {word}</span>'


def linked(text: str, address: str) -> str:
    """The text, which is HTML, as a link where there is an address."""
    return f'<a href="{address.replace("&", "&amp;")}">{text}</a>' if address else text


def day_rows(days: Iterable[date], cells: Iterable[Sequence[Cell]], links: Iterable[str]) -> list[Row]:
    return [
        Row(day.isoformat(), current().day_of(day), values, link=link)
        for day, values, link in zip(days, cells, links, strict=True)
    ]


def month_rows(
    months: Iterable[date], cells: Iterable[Sequence[Cell]], links: Iterable[Sequence[str]] | None = None
) -> list[Row]:
    """``links`` are those of the cells."""
    found = (
        zip(months, cells, links, strict=True) if links else ((*each, ()) for each in zip(months, cells, strict=True))
    )
    named = current().month
    return [Row(format_month(month), named(month), values, links=addresses) for month, values, addresses in found]
