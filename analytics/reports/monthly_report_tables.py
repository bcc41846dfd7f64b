"""Tables of the monthly report: rows of formatted amounts, each with its other amount and the link to its rows."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

from django.utils.functional import Promise
from django.utils.translation import gettext as _

from analytics.charts.amount_format import add_sign, format_full_amount
from analytics.charts.chart_tables import EMPTY_CELL, CountChange, format_count_change
from analytics.queries.monthly_report import ReportedAmount, ReportMonth
from companies.locales import get_current_locale

Text = str | Promise


@dataclass(frozen=True, slots=True)
class ReportCell:
    """A formatted value; `meta` stands below it, `tone` is "good", "bad" or empty."""

    text: str = EMPTY_CELL
    link: str = ""
    meta: str = ""
    tone: str = ""


EMPTY_REPORT_CELL = ReportCell()


@dataclass(frozen=True, slots=True)
class ReportRow:
    """A row; `kind` is line, category, detail of the row before, sum, unavailable or empty."""

    label: Text
    cells: Sequence[ReportCell]
    kind: str = ""
    note: Text = ""
    link: str = ""


@dataclass(frozen=True, slots=True)
class ReportTable:
    """A section of the report. Without rows it is not shown; `empty_text` says why, in one line with other sections."""

    id: str
    title: Text
    head: Sequence[Text] = ()
    rows: Sequence[ReportRow] = ()
    hint: Text = ""
    empty_text: Text = ""

    @property
    def has_values(self) -> bool:
        """Whether any cell has a value. Without one the section is neither printed nor shared."""
        return any(cell != EMPTY_REPORT_CELL for row in self.rows for cell in row.cells)

    def remove_empty_columns(self) -> "ReportTable":
        """Return the table less the columns that are empty in every row, such as the plan where nothing is planned."""
        if not self.has_values:
            return self
        columns = [
            column
            for column in range(len(self.head) - 1)
            if any(row.cells[column] != EMPTY_REPORT_CELL for row in self.rows)
        ]
        rows = [replace(row, cells=[row.cells[column] for column in columns]) for row in self.rows]
        return replace(self, head=[self.head[0], *(self.head[column + 1] for column in columns)], rows=rows)


def describe_empty_tables(tables: Iterable[ReportTable]) -> str:
    """Return why tables have no rows, in one line; empty if all have some."""
    return " ".join(str(table.empty_text) for table in tables if table.empty_text and not table.rows)


@dataclass(frozen=True, slots=True)
class CellFormatter:
    """Formats cells of a report in its currency."""

    report: ReportMonth
    plain: ReportCell = EMPTY_REPORT_CELL

    @property
    def currency(self) -> str:
        return self.report.company.base_currency

    def format_amount(
        self, amount: Decimal | None, *, other: Decimal | None = None, link: str = "", plus: bool = False
    ) -> ReportCell:
        """Format an amount, and below it the other one where the books and the closing differ."""
        if amount is None:
            return self.plain
        meta = "" if other is None else self.describe_other(format_full_amount(other, self.currency))
        return ReportCell(format_full_amount(amount, self.currency, plus=plus), link, meta)

    def format_reported_amount(self, amount: ReportedAmount, *, link: str = "", plus: bool = False) -> ReportCell:
        return self.format_amount(amount.value, other=amount.other, link=link, plus=plus)

    def describe_plan(self) -> str:
        """Return of which day the plan is in the report of a closed month; empty for others."""
        report = self.report
        if not (report.closing and report.is_closed):
            return ""
        if report.closing.plan is None:
            return _("Plan as of today.")
        day = get_current_locale().format_day(report.closing.created_time)
        return _("Plan as of {day}, when the month was closed.").format(day=day)

    def describe_other(self, text: str) -> str:
        label = _("now {amount}") if self.report.is_closed else _("reported {amount}")
        return label.format(amount=text)

    def format_variance(self, amount: Decimal | None, *, favourable: bool | None) -> ReportCell:
        """Format a difference with its sign, coloured by whether it is good for the result."""
        if amount is None:
            return self.plain
        tone = "" if favourable is None else "good" if favourable else "bad"
        return ReportCell(format_full_amount(amount, self.currency, plus=True), tone=tone)

    def format_percentage(self, value: Decimal | None, *, other: Decimal | None = None) -> ReportCell:
        """Format a percentage with two decimals."""
        if value is None:
            return self.plain
        meta = "" if other is None or other == value else self.describe_other(format_report_percentage(other))
        return ReportCell(format_report_percentage(value), meta=meta)

    def format_percentage_points(self, value: Decimal | None) -> ReportCell:
        """Format a difference of percentages."""
        if value is None:
            return self.plain
        number = get_current_locale().format_number(abs(value), 2)
        return ReportCell(add_sign(value, _("{number} pp").format(number=number)))

    def format_count(self, value: int | None) -> ReportCell:
        if isinstance(value, CountChange):
            return ReportCell(format_count_change(value))
        return self.plain if value is None else ReportCell(get_current_locale().format_number(value))


def format_report_percentage(value: Decimal) -> str:
    """Format a percentage with two decimals.

    >>> format_report_percentage(Decimal("-12.5"))
    '−12.50 %'
    """
    return add_sign(value, f"{get_current_locale().format_number(abs(value), 2)} %")
