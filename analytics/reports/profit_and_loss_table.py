"""The profit and loss as a table: lines and categories by period, each amount with its plan, comparison and
link.
"""

from collections import defaultdict
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from uuid import UUID

from django.utils.html import escape
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from analytics.charts.amount_format import format_full_amount, format_share
from analytics.charts.chart_tables import Variance, add_link, format_variance
from analytics.charts.links import build_results_query
from analytics.queries import profit_and_loss
from analytics.queries.posted_results import CellKey
from ledger.models import EXPENSE_LINES, PlType, translate_category_name
from ledger.money.calc.money import MONEY_CONTEXT
from ledger.transactions.pages.labels import LINE_LABELS

ZERO = Decimal(0)
CategoryName = tuple[UUID, str]  # id and name


@dataclass(frozen=True, slots=True)
class CellAmounts:
    """The amounts of a row in a period; `compared` is None without a comparison."""

    actual: Decimal = ZERO
    planned: Decimal = ZERO
    compared: Decimal | None = None
    link: str = ""
    reported: Decimal | None = None  # frozen amount, where a closed month has changed since

    def __add__(self, other: "CellAmounts") -> "CellAmounts":
        both = [each.compared for each in (self, other) if each.compared is not None]
        compared = sum(both, start=ZERO) if both else None
        reported = None
        if self.reported is not None or other.reported is not None:
            reported = sum((each.as_reported for each in (self, other)), start=ZERO)
        return CellAmounts(self.actual + other.actual, self.planned + other.planned, compared, reported=reported)

    def __neg__(self) -> "CellAmounts":
        compared, reported = (None if each is None else -each for each in (self.compared, self.reported))
        return CellAmounts(-self.actual, -self.planned, compared, reported=reported)

    @property
    def as_reported(self) -> Decimal:
        return self.actual if self.reported is None else self.reported


@dataclass(frozen=True, slots=True)
class StatementRow:
    """A row with a cell for each period.

    `kind` is line, category or sum; `line` is None for a sum of several lines.
    """

    name: str
    kind: str
    cells: Sequence[CellAmounts]
    line: PlType | None = None

    @property
    def is_subtracted(self) -> bool:
        """Whether sums are reduced by it."""
        return self.line in EXPENSE_LINES

    @property
    def total(self) -> CellAmounts:
        return sum(self.cells, start=CellAmounts())


@dataclass(frozen=True, slots=True)
class ProfitAndLossTable:
    """The profit and loss table.

    `head` are the names of the periods, `before` those of the compared ones; `percentages` is whether each
    shows variances in percent too. `partly_compared` are the places of periods compared with a part of another.
    """

    head: Sequence[str]
    rows: Sequence[StatementRow]
    currency: str
    percentages: Sequence[bool]
    before: Sequence[str] = ()
    partly_compared: Container[int] = ()

    @property
    def columns(self) -> list[tuple[str, str]]:
        """(name, compared period) of each period; the latter is empty where all of it is compared."""
        return [
            (name, self.before[place] if place in self.partly_compared else "") for place, name in enumerate(self.head)
        ]

    @property
    def body(self) -> SafeString:
        """The rows as HTML, built in Python since a template loop over as many cells is slow."""
        words = _("plan {amount}"), _("previously {amount} ({change})"), _("reported {amount}")
        return SafeString("".join(self._row(row, words) for row in self.rows))

    def _row(self, row: StatementRow, words: tuple[str, str, str]) -> str:
        cells = "".join(
            self._cell(amounts, words, line=row.line, in_percent=in_percent)
            for amounts, in_percent in zip(row.cells, self.percentages, strict=True)
        )
        total = self._cell(row.total, words, line=row.line, in_percent=False)
        return f'<tr class="of-{row.kind}"><th scope="row">{escape(row.name)}</th>{cells}{total}</tr>'

    def _cell(self, amounts: CellAmounts, words: tuple[str, str, str], *, line: PlType | None, in_percent: bool) -> str:
        plan, before, reported = words
        lines = [add_link(format_full_amount(amounts.actual, self.currency), amounts.link if amounts.actual else "")]
        if amounts.reported is not None:
            reported_text = reported.format(amount=format_full_amount(amounts.reported, self.currency))
            lines.append(f'<span class="meta">{reported_text}</span>')
        if amounts.planned:
            variance = amounts.actual - amounts.planned
            variance_cell = Variance(variance, profit_and_loss.is_favourable(line or PlType.REVENUE, variance))
            lines.append(
                f'<span class="meta">{plan.format(amount=format_full_amount(amounts.planned, self.currency))}</span>'
            )
            lines.append(f'<span class="meta">{format_variance(variance_cell, self.currency)}</span>')
            if in_percent:
                share = MONEY_CONTEXT.divide(variance, abs(amounts.planned))
                lines.append(f'<span class="meta">{format_share(share, plus=True)}</span>')
        if amounts.compared is not None:
            change = format_full_amount(amounts.actual - amounts.compared, self.currency, plus=True)
            compared = before.format(amount=format_full_amount(amounts.compared, self.currency), change=change)
            lines.append(f'<span class="meta">{compared}</span>')
        return f"<td>{''.join(lines)}</td>"


def format_category_name(name: str) -> str:
    """Return the name of a category in the reader's language; empty names are those of deleted ones."""
    return translate_category_name(name) if name else _("a deleted category")


SUM_LABELS = {  # line → label of the sum after it
    PlType.COGS: gettext_lazy("Gross profit"),
    PlType.GA: gettext_lazy("Operating result"),
    PlType.NO: gettext_lazy("Result"),
}


def build_statement(
    results_found: Iterable[profit_and_loss.ResultRow],
    *,
    heading_by_period: Mapping[date, str],
    periods_with_percentage: Container[date],
    currency: str,
    transactions_url: str,
    compares: bool,
    compared_headings: Sequence[str] = (),
    partly_compared: Container[int] = (),
    reported: Mapping[CellKey, Decimal] | None = None,
) -> ProfitAndLossTable:
    """Build the table from results.

    Args:
        heading_by_period: names of the periods by their first day.
        periods_with_percentage: periods whose variances are shown in percent too.
        partly_compared: places of the periods that are compared with a part of another.
        transactions_url: URL of the transaction list; empty without the permission.
        reported: frozen amounts of closed months.
    """
    by_line: defaultdict[str, defaultdict[CategoryName, dict[date, CellAmounts]]] = defaultdict(
        lambda: defaultdict(dict)
    )
    for result in results_found:
        query = build_results_query(
            result.first, result.last, line=result.pl_type, categories=[result.category_id], up_to=result.up_to
        )
        reported_amount = (reported or {}).get((result.month, result.pl_type, result.category_id), result.actual)
        by_line[result.pl_type][result.category_id, result.category_name][result.month] = CellAmounts(
            result.actual,
            result.planned,
            result.compared,
            f"{transactions_url}?{query}" if transactions_url else "",
            None if reported_amount == result.actual else reported_amount,
        )
    zero = CellAmounts(compared=ZERO if compares else None)
    rows: list[StatementRow] = []
    periods = list(heading_by_period)

    remainders = [zero] * len(periods)
    for line in PlType:
        categories = [
            StatementRow(format_category_name(name), "category", [cells.get(period, zero) for period in periods], line)
            for (_, name), cells in by_line[line].items()
        ]
        sums = [sum((row.cells[place] for row in categories), start=zero) for place in range(len(periods))]
        if categories:
            rows += [StatementRow(str(LINE_LABELS[line]), "line", sums, line), *categories]
        if line != PlType.NEUTRAL:
            changes = [-result for result in sums] if line in EXPENSE_LINES else sums
            remainders = [remainder + change for remainder, change in zip(remainders, changes, strict=True)]
        if line in SUM_LABELS:
            rows.append(StatementRow(str(SUM_LABELS[line]), "sum", remainders))
    return ProfitAndLossTable(
        list(heading_by_period.values()),
        rows,
        currency,
        [period in periods_with_percentage for period in periods],
        compared_headings,
        partly_compared,
    )
