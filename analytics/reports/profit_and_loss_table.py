"""The profit and loss as a table: lines and categories by period, each amount with its plan, comparison and
link; and as the sheet that the page shows.
"""

from collections import defaultdict
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from uuid import UUID

from django.utils.translation import gettext as _

from analytics.charts.amount_format import format_full_amount
from analytics.charts.links import build_results_query
from analytics.queries import profit_and_loss
from analytics.queries.posted_results import CellKey
from analytics.reports.period_headings import PeriodHeading
from companies.pages.sheets import Sheet, SheetCell, SheetColumn, SheetRow, SheetStyle
from ledger.models import EXPENSE_LINES, PlType, translate_category_name
from ledger.money.calc.money import MONEY_CONTEXT
from ledger.transactions.pages.labels import LINE_LABELS, SUBTOTAL_LABELS, format_line_choice

ZERO, HUNDRED = Decimal(0), Decimal(100)
CategoryName = tuple[UUID, str]  # id and name


@dataclass(frozen=True, slots=True)
class CellAmounts:
    """The amounts of a row in a period; `compared` is None without a comparison."""

    actual: Decimal = ZERO
    planned: Decimal = ZERO
    compared: Decimal | None = None
    link: str = ""
    plan_link: str = ""
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
    def has_amounts(self) -> bool:
        return any((self.actual, self.planned, self.compared, self.reported))

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
    category_id: UUID | None = None

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

    `before` are the names of the compared periods; `percentages` is whether each period shows variances in percent
    too. `partly_compared` are the places of periods compared with a part of another.
    """

    headings: Sequence[PeriodHeading]
    rows: Sequence[StatementRow]
    currency: str
    percentages: Sequence[bool]
    before: Sequence[str] = ()
    partly_compared: Container[int] = ()

    @property
    def head(self) -> list[str]:
        """The headings as texts."""
        return [heading.text for heading in self.headings]


def format_category_name(name: str) -> str:
    """Return the name of a category in the reader's language; empty names are those of deleted ones."""
    return translate_category_name(name) if name else _("a deleted category")


def build_statement(
    results_found: Iterable[profit_and_loss.ResultRow],
    *,
    heading_by_period: Mapping[date, PeriodHeading],
    periods_with_percentage: Container[date],
    currency: str,
    transactions_url: str,
    plan_url: str = "",
    has_comparison: bool,
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
        plan_url: URL of the plan; empty without the permission.
        reported: frozen amounts of closed months.
    """
    amounts_by_line: defaultdict[str, defaultdict[CategoryName, dict[date, CellAmounts]]] = defaultdict(
        lambda: defaultdict(dict)
    )
    for result in results_found:
        query = build_results_query(
            result.first, result.last, line=result.pl_type, categories=[result.category_id], up_to=result.up_to
        )
        reported_amount = (reported or {}).get((result.month, result.pl_type, result.category_id), result.actual)
        amounts_by_line[result.pl_type][result.category_id, result.category_name][result.month] = CellAmounts(
            result.actual,
            result.planned,
            result.compared,
            f"{transactions_url}?{query}" if transactions_url else "",
            build_plan_link(plan_url, result) if plan_url and result.planned else "",
            None if reported_amount == result.actual else reported_amount,
        )
    zero = CellAmounts(compared=ZERO if has_comparison else None)
    rows: list[StatementRow] = []
    periods = list(heading_by_period)

    remainders = [zero] * len(periods)
    for line in PlType:
        categories = [
            StatementRow(
                format_category_name(name),
                "category",
                [cells.get(period, zero) for period in periods],
                line,
                category_id,
            )
            for (category_id, name), cells in amounts_by_line[line].items()
        ]
        sums = [sum((row.cells[place] for row in categories), start=zero) for place in range(len(periods))]
        if categories:
            rows += [StatementRow(str(LINE_LABELS[line]), "line", sums, line), *categories]
        if line != PlType.NEUTRAL:
            changes = [-result for result in sums] if line in EXPENSE_LINES else sums
            remainders = [remainder + change for remainder, change in zip(remainders, changes, strict=True)]
        if line in SUBTOTAL_LABELS:
            rows.append(StatementRow(str(SUBTOTAL_LABELS[line]), "sum", remainders))
    return ProfitAndLossTable(
        list(heading_by_period.values()),
        rows,
        currency,
        [period in periods_with_percentage for period in periods],
        compared_headings,
        partly_compared,
    )


def build_plan_link(plan_url: str, result: profit_and_loss.ResultRow) -> str:
    """Return the URL of a result's row in the plan of its year."""
    return (
        f"{plan_url}?startMonth={result.month.year:04}-01#row-{format_line_choice(result.category_id, result.pl_type)}"
    )


# ---------------------------------------------------------------------------------------------- the sheet


def build_statement_sheet(
    table: ProfitAndLossTable, *, title: str, style: SheetStyle, has_plan_comparison: bool
) -> Sheet:
    """Build the sheet of a statement: income is positive, costs are negative.

    Periods that have not begun show their plan. The total counts them, but not where actual and plan are compared. A
    single period has no total, also beside a last one without amounts.

    Args:
        has_plan_comparison: whether actual, plan and variance stand beside each other.
    """
    builder = StatementSheetBuilder(
        table, has_plan_comparison, [has_plan(table.rows, place) for place in range(len(table.headings))]
    )
    return Sheet(
        title,
        _("Line"),
        table.currency,
        [
            *map(builder.build_column, range(len(table.headings))),
            *([builder.build_total_column()] if builder.has_total else []),
        ],
        [SheetRow(row.name, builder.build_cells(row), row.kind) for row in table.rows],
        style,
    )


def has_plan(rows: Iterable[StatementRow], place: int) -> bool:
    """Return whether anything is planned in a period: then nothing planned in a row is a plan of zero."""
    return any(row.cells[place].planned for row in rows)


@dataclass(frozen=True, slots=True)
class StatementSheetBuilder:
    """Builds the sheet of a table. `plans` is by place whether its period has a plan."""

    table: ProfitAndLossTable
    has_plan_comparison: bool
    plans: Sequence[bool]

    @property
    def has_comparison(self) -> bool:
        """Whether periods are compared with earlier ones."""
        return bool(self.table.before)

    @property
    def planned_places(self) -> list[int]:
        return [place for place, heading in enumerate(self.table.headings) if heading.kind == "planned"]

    @property
    def is_plan_in_total(self) -> bool:
        """Whether the total counts the plan of periods that have not begun."""
        return bool(self.planned_places) and not (self.has_plan_comparison or self.has_comparison)

    @property
    def has_total(self) -> bool:
        """Whether the total says more than a single period, beside which the last one may have just begun."""
        begun_places = [place for place in range(len(self.table.headings)) if place not in self.planned_places]
        if len(begun_places) == 2 and not any(row.cells[begun_places[-1]].has_amounts for row in self.table.rows):
            begun_places.pop()
        return self.is_plan_in_total or len(begun_places) != 1

    def has_percentage(self, place: int) -> bool:
        return self.has_plan_comparison and self.table.percentages[place]

    def build_column(self, place: int) -> SheetColumn:
        heading, notes = self.table.headings[place], list(self.table.headings[place].notes)
        if heading.kind == "planned":
            parts = [_("Plan")] if self.has_plan_comparison or self.has_comparison else []
            return SheetColumn(heading.name, [*notes, _("plan")], parts, heading.kind)
        comparison_name = self.table.before[place] if place < len(self.table.before) else ""
        if comparison_name and place in self.table.partly_compared:
            notes.append(_("compared with {period}").format(period=comparison_name))
        parts = self.list_parts(comparison_name, in_percent=self.has_percentage(place))
        return SheetColumn(heading.name, notes, parts, heading.kind)

    def build_total_column(self) -> SheetColumn:
        notes = []
        if self.planned_places:
            notes.append(_("with plan") if self.is_plan_in_total else _("so far"))
        return SheetColumn(_("Total"), notes, self.list_parts(""), "total")

    def list_parts(self, comparison_name: str, *, in_percent: bool = False) -> list[str]:
        if self.has_plan_comparison:
            return [_("Actual"), _("Plan"), _("Variance"), *(["%"] if in_percent else [])]
        return [_("Actual"), comparison_name or _("Comparison"), _("Change")] if self.has_comparison else []

    def build_cells(self, row: StatementRow) -> list[SheetCell]:
        cells = []
        for place, (heading, amounts) in enumerate(zip(self.table.headings, row.cells, strict=True)):
            if heading.kind == "planned":
                cells.append(SheetCell(apply_sign(row, amounts.planned), amounts.plan_link))
            else:
                cells += self.build_period_cells(
                    row, amounts, is_planned=self.plans[place], in_percent=self.has_percentage(place)
                )
        if not self.has_total:
            return cells
        places = [place for place in range(len(row.cells)) if place not in self.planned_places]
        actual = [row.cells[place] for place in places]
        total = sum(actual, start=CellAmounts())
        if self.is_plan_in_total:
            later = sum((row.cells[place].planned for place in self.planned_places), start=ZERO)
            total = CellAmounts(total.actual + later)
        is_planned = any(self.plans[place] for place in places)
        return [*cells, *self.build_period_cells(row, total, is_planned=is_planned, in_percent=False)]

    def build_period_cells(
        self, row: StatementRow, amounts: CellAmounts, *, is_planned: bool, in_percent: bool
    ) -> list[SheetCell]:
        note = ""
        if amounts.reported is not None:
            reported = format_full_amount(apply_sign(row, amounts.reported), self.table.currency)
            note = _("reported {amount}").format(amount=reported)
        cells = [SheetCell(apply_sign(row, amounts.actual), amounts.link if amounts.actual else "", note=note)]
        if self.has_plan_comparison:
            variance = amounts.actual - amounts.planned if is_planned else None
            tones = {None: "", True: "good", False: "bad"}
            tone = tones[profit_and_loss.is_favourable(row.line or PlType.REVENUE, variance)]
            cells.append(SheetCell(apply_sign(row, amounts.planned) if is_planned else None, amounts.plan_link))
            cells.append(SheetCell(None if variance is None else apply_sign(row, variance), amounts.plan_link, tone))
            if in_percent:
                share = None
                if variance is not None and amounts.planned:
                    share = MONEY_CONTEXT.divide(variance * HUNDRED, abs(amounts.planned))
                cells.append(SheetCell(None if share is None else apply_sign(row, share), kind="percent"))
        elif self.has_comparison:
            compared = amounts.compared or ZERO
            cells.append(SheetCell(apply_sign(row, compared)))
            cells.append(SheetCell(apply_sign(row, amounts.actual - compared)))
        return cells


def apply_sign(row: StatementRow, amount: Decimal) -> Decimal:
    """Return a statement's amount as the sheet shows it: costs are negative."""
    return -amount if row.is_subtracted and amount else amount
