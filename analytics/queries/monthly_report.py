"""Figures of a monthly report: what data queries answer about a month, beside the figures of its closing.

A closed month shows the figures that were reported, as `data/profitAndLoss` does with `asReported`; where the books
differ now, the other amount is there too. A month that was reopened shows the books, with what was reported.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import NamedTuple
from uuid import UUID

from analytics.calc.mrr import MonthlyRow
from analytics.queries.cash_bridge import CashBridge, compute_cash_bridge
from analytics.queries.monthly_rows import ROW_FIELDS
from analytics.queries.posted_results import CellKey, Cells
from analytics.queries.profit_and_loss import Comparison, ResultRow, compute_profit_and_loss, find_first_data_month
from analytics.queries.recurring_revenue import MRR, compute_monthly_data
from analytics.queries.reported_figures import StoredFigures, list_bridge_amounts, read_stored_bridge
from analytics.queries.reported_plan import read_stored_plan
from companies.errors import NotFoundError
from companies.models import Company
from ledger.calc.months import MONTHS_PER_YEAR, add_months, get_last_day_of_month, list_months
from ledger.closings.calc.figures import Figure
from ledger.closings.queries.closings import find_first_booked_month, get_closing
from ledger.models import Account, Category, Closing, PlType, SubscriptionEvent
from ledger.money.calc.fx import RateTable
from ledger.transactions.queries.cash_parts import CashPart

ZERO = Decimal(0)
TREND_MONTHS = MONTHS_PER_YEAR


class ReportedAmount(NamedTuple):
    """An amount of the report; ``other`` is that of the books or of the closing where it differs from it."""

    value: Decimal
    other: Decimal | None = None


@dataclass(frozen=True, slots=True)
class ReportMonth:
    """A month to report, with its latest closing and that of the month before."""

    company: Company
    month: date
    today: date
    rates: RateTable
    first_month: date  # with a booked transaction
    closing: Closing | None
    previous_closing: Closing | None

    @property
    def last_day(self) -> date:
        return get_last_day_of_month(self.month)

    @property
    def is_closed(self) -> bool:
        return self.closing is not None and self.closing.reopening is None

    @property
    def is_over(self) -> bool:
        return self.last_day < self.today

    @property
    def year_before(self) -> date | None:
        """The same month a year before, None before the calendar begins."""
        return add_months(self.month, -MONTHS_PER_YEAR) if self.month.year > 1 else None

    @property
    def last_year(self) -> date | None:
        """The same month a year before, None before the first booked month."""
        return self.year_before if self.year_before and self.year_before >= self.first_month else None

    @property
    def stored_plan(self) -> Cells | None:
        """The plan that a closed month was closed with; None where the plan of today counts."""
        return read_stored_plan(self.closing) if self.closing and self.is_closed else None

    @property
    def stored_figures(self) -> StoredFigures:
        """What the closing stores of cash and receivables; empty where it stores nothing."""
        return (self.closing.report_figures if self.closing else None) or {}

    def to_reported_amount(self, *, now: Decimal, reported: Decimal | None) -> ReportedAmount:
        """Return the amount that the report shows, and the other one where they differ."""
        if reported is None or reported == now:
            return ReportedAmount(now)
        return ReportedAmount(reported, now) if self.is_closed else ReportedAmount(now, reported)


def load_report_month(company: Company, month: date, *, today: date, rates: RateTable) -> ReportMonth:
    """Load what a report of the month is made from; the month has one."""
    first_month = find_first_booked_month(company)
    return ReportMonth(
        company=company,
        month=month,
        today=today,
        rates=rates,
        first_month=first_month or month,
        closing=find_closing(company, month),
        previous_closing=find_closing(company, add_months(month, -1)) if first_month and month > first_month else None,
    )


def find_closing(company: Company, month: date) -> Closing | None:
    """Return the latest closing of a month, None if it was never closed."""
    try:
        return get_closing(company, month)
    except NotFoundError:
        return None


def list_frozen_figures(closing: Closing | None, figure: str) -> list[Figure]:
    """Return the figures of one kind of a closing."""
    figures = closing.figures if closing else []
    return [Figure.from_json(each) for each in figures if each["figure"] == figure]


# ---------------------------------------------------------------------------------------------- profit and loss


def compute_month_results(
    report: ReportMonth, *, comparison: Comparison = "previousYear"
) -> tuple[list[ResultRow], dict[CellKey, Decimal]]:
    """Return (rows of the month as the report shows them, the other amount of each that may differ).

    Raises:
        RateLookupError: a currency has no exchange rate.
    """
    rows = compute_results(report, [report.month], comparison=comparison)
    if report.closing is None:
        return rows, {}
    if report.is_closed:
        now = compute_results(report, [report.month], comparison=comparison, as_reported=False)
        compared_amounts = {get_result_row_key(row): row.actual for row in now}
        missing = {get_result_row_key(row): row.with_actual(ZERO) for row in now}
    else:
        frozen = list_frozen_figures(report.closing, "profitAndLoss")
        compared_amounts = {
            (report.month, str(result_row.key.pl_type), UUID(result_row.key.category_id)): result_row.value
            for result_row in frozen
            if result_row.value
        }
        missing = build_empty_rows(report, compared_amounts.keys() - {get_result_row_key(row) for row in rows})
    shown_keys = {get_result_row_key(row) for row in rows}
    rows += [row for key, row in missing.items() if key not in shown_keys]
    return rows, {get_result_row_key(row): compared_amounts.get(get_result_row_key(row), ZERO) for row in rows}


def get_result_row_key(row: ResultRow) -> CellKey:
    return row.month, row.pl_type, row.category_id


def build_empty_rows(report: ReportMonth, keys: Collection[CellKey]) -> dict[CellKey, ResultRow]:
    """Return rows without amounts for what was reported and is not there now; a deleted category has no name."""
    names = dict(
        Category.objects.for_company(report.company.id)
        .filter(id__in=[key[2] for key in keys])
        .values_list("id", "name")
    )
    return {
        (month, line, category_id): ResultRow(
            month=month,
            first=month,
            last=month,
            up_to=None,
            pl_type=line,
            category_id=category_id,
            category_name=names.get(category_id, ""),
            actual=ZERO,
            planned=ZERO,
            compared=ZERO,
            percentage=None,
        )
        for month, line, category_id in keys
    }


def compute_results(
    report: ReportMonth,
    months: Sequence[date],
    *,
    interval: str = "month",
    comparison: Comparison | None = None,
    as_reported: bool = True,
) -> list[ResultRow]:
    """Return what `data/profitAndLoss` answers, for a closed month beside the plan it was closed with."""
    return compute_profit_and_loss(
        company=report.company,
        months=months,
        today=report.today,
        every_category=False,
        rates=report.rates,
        interval=interval,  # type: ignore[arg-type]
        comparison=comparison,
        as_reported=as_reported,
        plan=report.stored_plan,
    )


def find_year_start(report: ReportMonth) -> date:
    """Return the first month of the calendar year with data: the plan of months before has no actual amounts beside."""
    months = list_months(report.month.replace(month=1), report.month)
    return find_first_data_month(report.company, months) or report.month


def compute_year_results(report: ReportMonth, first: date) -> tuple[list[ResultRow], list[ResultRow]]:
    """Return (rows from the first month up to the report's, rows of the whole year, whose plan counts)."""
    january = report.month.replace(month=1)
    to_date = compute_results(report, list_months(first, report.month), interval="year")
    whole_year = compute_results(report, list_months(january, add_months(january, 11)), interval="year")
    return to_date, whole_year


def sum_actual_by_line(rows: Sequence[ResultRow]) -> dict[tuple[date, str], Decimal]:
    """Return (month, P&L line) -> actual amount."""
    sums: dict[tuple[date, str], Decimal] = {}
    for row in rows:
        key = (row.month, row.pl_type)
        sums[key] = sums.get(key, ZERO) + row.actual
    return sums


def list_trend_months(report: ReportMonth) -> list[date]:
    """Return the months of the trend: twelve up to the report's, from the first booked one."""
    first = max(report.first_month, add_months(report.month, 1 - TREND_MONTHS))
    return list_months(first, report.month)


# ---------------------------------------------------------------------------------------------- cash


@dataclass(frozen=True, slots=True)
class CashFigures:
    """The amounts of the month's cash bridge as the report shows them, by part, and those of a year before.

    `opening` and `closing` are among the parts. `last` is the last day that counts.
    """

    amounts: dict[str, ReportedAmount]
    last: date
    last_year: dict[str, Decimal] | None

    @property
    def closing(self) -> Decimal:
        return self.amounts["closing"].value

    @property
    def change(self) -> ReportedAmount:
        """The change of cash over the month, without opening balances, which are no flow."""
        parts = [self.amounts[part] for part in ("closing", "opening", CashPart.OPENING_BALANCES)]
        value = compute_cash_change(*(part.value for part in parts))
        if all(part.other is None for part in parts):
            return ReportedAmount(value)
        return ReportedAmount(
            value, compute_cash_change(*(part.value if part.other is None else part.other for part in parts))
        )

    @property
    def change_of_last_year(self) -> Decimal | None:
        """The change of cash over the same month a year before, without opening balances."""
        if self.last_year is None:
            return None
        opening_balances = self.last_year.get(CashPart.OPENING_BALANCES, ZERO)
        return compute_cash_change(self.last_year["closing"], self.last_year["opening"], opening_balances)


def compute_cash_change(closing: Decimal, opening: Decimal, opening_balances: Decimal) -> Decimal:
    """Return the change of cash that is no opening balance."""
    return closing - opening - opening_balances


def compute_cash_figures(report: ReportMonth) -> CashFigures:
    """Return the cash of the month as `data/cashBridge` answers it.

    Raises:
        RateLookupError: a currency has no exchange rate.
    """
    bridge = compute_month_bridge(report, report.month)
    reported = read_stored_bridge(report.stored_figures)
    return CashFigures(
        amounts={
            part: report.to_reported_amount(now=now, reported=amount)
            for part, now in list_bridge_amounts(bridge).items()
            for amount in [reported.get(part) if reported else sum_reported_balances(report, part)]
        },
        last=bridge.last,
        last_year=find_bridge_of_last_year(report, report.last_year) if report.last_year else None,
    )


def find_bridge_of_last_year(report: ReportMonth, month: date) -> dict[str, Decimal]:
    """Return the amounts of a month's bridge by part, as reported if it is closed."""
    closing = find_closing(report.company, month)
    stored_figures = (closing.report_figures if closing and closing.reopening is None else None) or {}
    return read_stored_bridge(stored_figures) or list_bridge_amounts(compute_month_bridge(report, month))


def compute_month_bridge(report: ReportMonth, month: date) -> CashBridge:
    return compute_cash_bridge(
        company=report.company, start=month, end=get_last_day_of_month(month), today=report.today, rates=report.rates
    )


def sum_reported_balances(report: ReportMonth, part: str) -> Decimal | None:
    """Return the reported balances of the cash accounts at an end of the bridge; None without a closing of that day.

    Closings of earlier versions store no bridge.
    """
    closing = {"opening": report.previous_closing, "closing": report.closing}.get(part)
    if closing is None:
        return None
    cash_ids = set(Account.objects.for_company(report.company.id).cash().values_list("id", flat=True))
    balances = list_frozen_figures(closing, "balance")
    return sum((each.value for each in balances if UUID(each.key.account_id) in cash_ids), start=ZERO)


# ---------------------------------------------------------------------------------------------- recurring revenue


@dataclass(frozen=True, slots=True)
class RecurringFigures:
    """MRR movements of the month as the report shows them, with the rows of `data/monthlyData` behind them."""

    row: MonthlyRow
    amounts: dict[str, ReportedAmount]  # by ROW_FIELDS
    last_year: MonthlyRow | None

    @property
    def has_revenue(self) -> bool:
        """Whether there was recurring revenue in the month, in its report, or in the same month of last year."""
        return any(amount.value or amount.other for amount in self.amounts.values()) or (
            self.last_year is not None and any(getattr(self.last_year, name) for name in ROW_FIELDS)
        )


def compute_recurring_figures(report: ReportMonth) -> RecurringFigures:
    """Return the recurring revenue of the month.

    Raises:
        RateLookupError: a currency has no exchange rate.
    """
    row = compute_mrr_row(report, report.month)
    frozen = {
        str(figure.key.movement): figure.value
        for figure in list_frozen_figures(report.closing, "recurringRevenue")
        if figure.key.mrr_type == MRR
    }
    amounts = {
        name: report.to_reported_amount(
            now=getattr(row, name), reported=frozen.get(name, ZERO) if report.closing else None
        )
        for name in ROW_FIELDS
    }
    return RecurringFigures(row, amounts, compute_mrr_row_of_last_year(report))


def compute_mrr_row_of_last_year(report: ReportMonth) -> MonthlyRow | None:
    """Return the row of a year before; None before the first transaction and the first subscription event."""
    month = report.year_before
    if month is None:
        return None
    events = SubscriptionEvent.objects.for_company(report.company.id).filter(
        retracted_time=None, effective_date__lte=get_last_day_of_month(month)
    )
    return compute_mrr_row(report, month) if report.last_year or events.exists() else None


def compute_mrr_row(report: ReportMonth, month: date) -> MonthlyRow:
    (row,) = compute_monthly_data(company=report.company, mrr_type=MRR, first=month, last=month)
    return row


def is_result_line(row: ResultRow) -> bool:
    """Return whether a row is part of the result, as neutral ones are not."""
    return row.pl_type != PlType.NEUTRAL
