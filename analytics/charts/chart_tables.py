"""The table behind a chart: one set of values for the page and the downloaded file."""

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

from analytics.charts.amount_format import add_sign, format_full_amount
from companies.locales import get_current_locale
from ledger.calc.months import format_month, get_last_day_of_month
from ledger.money.calc.money import format_amount


class Variance(NamedTuple):
    """An amount above its plan, and whether that is favourable for the result."""

    amount: Decimal
    favourable: bool | None


class CountChange(int):
    """By how many something changes; shown with its sign."""


Cell = Decimal | int | Variance | None
EMPTY_CELL = "–"


class ColumnKind(Enum):
    MONEY = "money"
    CHANGE = "change"  # money, with a plus sign on the page
    VARIANCE = "variance"  # a change, with favourable or adverse
    COUNT = "count"
    PERCENT = "percent"  # hundredths with two decimals


def format_count_change(change: int) -> str:
    """Format by how many something changes: +3, −2."""
    return add_sign(Decimal(change), get_current_locale().format_number(abs(change)), plus=True)


@dataclass(frozen=True, slots=True)
class TableColumn:
    """A column of the table; `series` is the chart series that links to its cells."""

    label: str | Promise
    kind: ColumnKind = ColumnKind.MONEY
    series: str = ""


class TableRow(NamedTuple):
    """A row of the table: `key` is its name in the file, `label` on the page.

    `link` is the URL of the row, `links` those of its cells, empty where there is none.
    """

    key: str
    label: str
    cells: Sequence[Cell]
    sum: bool = False
    link: str = ""
    links: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class ChartTable:
    """`first` is the heading of the row names. With `newest_first` rows are shown from the last to the first."""

    first: str
    columns: Sequence[TableColumn]
    rows: Sequence[TableRow]
    currency: str
    newest_first: bool = False

    @property
    def head(self) -> list[str]:
        return [self.first, *(str(column.label) for column in self.columns)]

    @property
    def series(self) -> str:
        """The series of each column, "-" without one; empty if no column has any."""
        return " ".join(column.series or "-" for column in self.columns) if any(c.series for c in self.columns) else ""

    @property
    def body(self) -> SafeString:
        """The rows as HTML, built in Python since a template loop over a year of days is slow."""
        kinds = [column.kind for column in self.columns]
        rows = reversed(self.rows) if self.newest_first else self.rows
        return SafeString("".join(self._render_row(row, kinds) for row in rows))

    def _render_row(self, row: TableRow, kinds: Sequence[ColumnKind]) -> str:
        texts = map(self.format_cell, row.cells, kinds)  # digits and signs, nothing to escape
        if row.links:
            texts = map(add_link, texts, row.links)
        cells = "</td><td>".join(texts)
        start = '<tr class="sum">' if row.sum else "<tr>"
        label = add_link(escape(row.label), row.link)
        return f'{start}<th scope="row">{label}</th><td>{cells}</td></tr>'

    def format_cell(self, cell: Cell, kind: ColumnKind) -> str:
        """Format a cell for the page."""
        if cell is None:
            return EMPTY_CELL
        if isinstance(cell, Variance):
            return format_variance(cell, self.currency)
        if isinstance(cell, CountChange):
            return format_count_change(cell)
        if isinstance(cell, int):
            return get_current_locale().format_number(cell)
        if kind is ColumnKind.PERCENT:
            return add_sign(cell, f"{get_current_locale().format_number(abs(cell), 2)} %")
        return format_full_amount(cell, self.currency, plus=kind is ColumnKind.CHANGE)

    @property
    def is_empty(self) -> bool:
        """Whether all cells are zero."""
        return not any(cell for row in self.rows for cell in row.cells)

    def list_csv_rows(self) -> list[Sequence[object]]:
        """Return the rows of a CSV file: ISO dates, amounts to the cent, empty for unknown values."""
        kinds = [column.kind for column in self.columns]
        rows = ([row.key, *map(self.get_csv_cell, row.cells, kinds)] for row in self.rows)
        return [[self.first, *map(self.format_heading, self.columns)], *rows]

    def format_heading(self, column: TableColumn) -> str:
        unit = {ColumnKind.PERCENT: " (%)", ColumnKind.COUNT: ""}.get(column.kind, f" ({self.currency})")
        return f"{column.label}{unit}"

    def get_csv_cell(self, cell: Cell, kind: ColumnKind) -> Decimal | int | None:
        """Return the number of a cell as a file has it."""
        amount = cell.amount if isinstance(cell, Variance) else cell
        if amount is None or isinstance(amount, int) or (kind is ColumnKind.PERCENT and amount is cell):
            return amount
        return Decimal(format_amount(amount, self.currency))


def format_variance(variance: Variance, currency: str) -> str:
    """Format a variance as HTML: the amount, and whether it is favourable or adverse."""
    text = format_full_amount(variance.amount, currency, plus=True)
    if variance.favourable is None:
        return text
    label, tone = (_("favourable"), "good") if variance.favourable else (_("adverse"), "bad")
    return f'<span class="{tone}">{text} <span class="meta same-line">{label}</span></span>'


def add_link(text: str, address: str) -> str:
    """Return HTML as a link where there is a URL."""
    return f'<a href="{address.replace("&", "&amp;")}">{text}</a>' if address else text


def build_day_rows(days: Iterable[date], cells: Iterable[Sequence[Cell]], links: Iterable[str]) -> list[TableRow]:
    return [
        TableRow(day.isoformat(), get_current_locale().format_day(day), values, link=link)
        for day, values, link in zip(days, cells, links, strict=True)
    ]


def build_month_rows(
    months: Iterable[date],
    cells: Iterable[Sequence[Cell]],
    links: Iterable[Sequence[str]] | None = None,
    *,
    today: date,
) -> list[TableRow]:
    """Build a row for each month, the running one marked; `links` are those of its cells."""
    month_values = (
        zip(months, cells, links, strict=True) if links else ((*each, ()) for each in zip(months, cells, strict=True))
    )
    return [
        TableRow(format_month(month), format_month_label(month, today), values, links=addresses)
        for month, values, addresses in month_values
    ]


def format_month_label(month: date, today: date) -> str:
    """Format a month, and say that it is incomplete unless it is over."""
    name = get_current_locale().format_month(month)
    return _("{month} (incomplete)").format(month=name) if is_running_month(month, today) else name


def is_running_month(month: date, today: date) -> bool:
    """Return whether the month is the running one, and today is not its last day."""
    return month == today.replace(day=1) and today != get_last_day_of_month(today)
