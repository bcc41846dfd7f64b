"""Profit and loss: monthly bars of revenue and expenses, and the statement beside its plan.

Amounts are recognized ones, converted at their transaction's day. A month is rounded once; longer periods
sum rounded months. Expenses are positive; the lines `no` and `neutral` have the sign of the cash.
"""

from collections import defaultdict
from collections.abc import Sequence
from datetime import date
from decimal import ROUND_HALF_UP, Decimal
from typing import Literal, NamedTuple
from uuid import UUID

from django.db import connection

from analytics.calc.calendar_periods import PERIOD_MONTHS, PeriodInterval, get_period_start, shift_day_by_months
from analytics.queries.posted_results import (
    CategoryHeading,
    Cells,
    PostedResults,
    apply_reported_amounts,
    list_posted_results,
    to_statement_sign,
)
from companies.models import Company
from ledger.calc.months import add_months, count_months_between, get_first_day_of_month, get_last_day_of_month
from ledger.models import EXPENSE_LINES, MonthResult, PlType, Transaction
from ledger.money.calc.fx import RateTable
from ledger.money.calc.money import MONEY_CONTEXT, round_half_up
from planning.forecast.queries import sum_planned_results_in_base
from planning.models import PlanItem
from planning.scenarios.queries import LoadedScenario

Comparison = Literal["previousPeriod", "previousYear"]

ZERO = Decimal(0)
REVENUE_KEYS = ("revenueRecurring", "revenueOneOff", "revenueUsage")  # system keys of categories
OTHER_REVENUE_KEY = "revenueOther"
BAR_KEYS = (*REVENUE_KEYS, OTHER_REVENUE_KEY, *(expense.value for expense in EXPENSE_LINES))

# Raw SQL: results have no foreign key to categories, so the ORM needs a subquery for each row. ORM: 2.9 x.
_BAR_SUMS = """
    SELECT r.month, CASE WHEN r.pl_type <> 'revenue' THEN r.pl_type
                         WHEN c.system_key = ANY(%(revenues)s) THEN c.system_key
                         ELSE %(other)s END AS bar, sum(r.base_amount)
      FROM ledger_monthresult AS r
      JOIN ledger_category AS c ON c.company_id = r.company_id AND c.id = r.category_id
     WHERE r.company_id = %(company)s AND r.month BETWEEN %(first)s AND %(last)s AND r.pl_type = ANY(%(lines)s)
     GROUP BY 1, 2
"""


def list_bar_amounts(*, company: Company, months: Sequence[date]) -> list[dict[str, Decimal]]:
    """Return bar -> amount for each of the months (first days, consecutive); zero where there is nothing."""
    with connection.cursor() as cursor:
        cursor.execute(
            _BAR_SUMS,
            {
                "company": company.id,
                "first": months[0],
                "last": months[-1],
                "revenues": list(REVENUE_KEYS),
                "other": OTHER_REVENUE_KEY,
                "lines": [PlType.REVENUE.value, *EXPENSE_LINES],
            },
        )
        amounts = {(month, bar): amount for month, bar, amount in cursor.fetchall()}
    return [
        {
            bar: round_half_up(to_statement_sign(bar, amounts.get((month, bar), ZERO)), company.base_currency)
            for bar in BAR_KEYS
        }
        for month in months
    ]


def build_bar_amounts(results: PostedResults, *, months: Sequence[date], base: str) -> list[dict[str, Decimal]]:
    """Return the same for months whose results were read already."""
    sums: defaultdict[tuple[date, str], Decimal] = defaultdict(lambda: ZERO)
    for (month, line, category), amount in results.get_amounts(months).items():
        sums[month, get_bar_key(line, results.categories[category])] += amount
    return [{bar: round_half_up(sums[month, bar], base) for bar in BAR_KEYS} for month in months]


def get_bar_key(line: str, category: CategoryHeading) -> str:
    """Return the bar that shows a line's category; a line without a bar is its own key."""
    if line != PlType.REVENUE:
        return line
    return category.system_key if category.system_key in REVENUE_KEYS else OTHER_REVENUE_KEY


def find_first_data_month(company: Company, months: Sequence[date]) -> date | None:
    """Return the first of consecutive months with a transaction or a recognized amount; without any the first planned.

    None if there is none. Opening balances are no transactions. The plan of months before has no actual amounts beside.
    """
    days = {"date__gte": months[0], "date__lte": get_last_day_of_month(months[-1])}
    transactions = Transaction.objects.for_company(company.id).without_initial_balances().filter(**days)
    window = {"month__gte": months[0], "month__lte": months[-1]}
    results = MonthResult.objects.for_company(company.id).filter(count__gt=0, **window)
    first_days = (
        transactions.order_by("date").values_list("date")[:1].union(results.order_by("month").values_list("month")[:1])
    )
    first_day = min((day for (day,) in first_days), default=None)
    if first_day is None:
        items = PlanItem.objects.for_company(company.id).filter(month__lte=months[-1])
        first_day = items.order_by("month").values_list("month", flat=True).first()
    return max(get_first_day_of_month(first_day), months[0]) if first_day else None


class ResultRow(NamedTuple):
    """Actual and planned amounts of a category on a line in a period.

    `month` is the period's first; those from `first` to `last` were requested, the last one up to `up_to` if
    that is set. `compared` is None without a comparison. `percentage` is actual of planned, half up to two
    decimals; None without a plan or if it is not shown.
    """

    month: date
    first: date
    last: date
    up_to: date | None
    pl_type: str
    category_id: UUID
    category_name: str
    actual: Decimal
    planned: Decimal
    compared: Decimal | None
    percentage: Decimal | None

    @property
    def variance(self) -> Decimal | None:
        """Actual less planned; None without a plan."""
        return self.actual - self.planned if self.planned else None

    def with_actual(self, actual: Decimal) -> "ResultRow":
        """Return the row with another actual amount."""
        return self._replace(actual=actual)

    def without_amounts(self) -> "ResultRow":
        """Return the row with nothing actual or planned."""
        return self._replace(actual=ZERO, planned=ZERO, percentage=None)

    @property
    def favourable(self) -> bool | None:
        return is_favourable(self.pl_type, self.variance)


def is_favourable(line: str, variance: Decimal | None) -> bool | None:
    """Return whether a variance from the plan is good for the result; None without one and on neutral lines.

    >>> is_favourable("revenue", Decimal(5)), is_favourable("ga", Decimal(5)), is_favourable("neutral", Decimal(5))
    (True, False, None)
    """
    if not variance or line == PlType.NEUTRAL:
        return None
    return (variance > 0) is (line not in EXPENSE_LINES)


def find_to_date_days(
    months: Sequence[date], *, today: date, months_back: int | None
) -> tuple[date | None, date | None]:
    """Return up to which day the last month counts, and its compared month; None where it counts whole.

    On its last day a month counts whole, and so does the compared one.
    """
    if not months or months[-1] != get_first_day_of_month(today) or today == get_last_day_of_month(today):
        return None, None
    return today, shift_day_by_months(today, -months_back) if months_back else None


def compute_profit_and_loss(
    *,
    company: Company,
    months: Sequence[date],
    today: date,
    every_category: bool,
    rates: RateTable,
    interval: PeriodInterval = "month",
    comparison: Comparison | None = None,
    to_date: bool = False,
    as_reported: bool = False,
    scenario: LoadedScenario | None = None,
    plan: Cells | None = None,
) -> list[ResultRow]:
    """Return rows by period, line and category where anything is posted, planned or compared, or all.

    Args:
        months: first days of consecutive months.
        to_date: leave out later months; the current one, its plan and the compared month count up to the
            same day.
        as_reported: closed months have their frozen amounts.
        scenario: its changes apply to the plan.
        plan: planned amounts to show in the place of the company's plan; their categories may be deleted.

    Raises:
        MissingRate: a currency has no exchange rate.
    """
    current_month = get_first_day_of_month(today)
    if to_date:
        months = [month for month in months if month <= current_month]
    if not months:
        return []
    compared_months = list_compared_months(months, interval, comparison)
    months_back = count_comparison_months(interval, comparison) if comparison else None
    day, compared_day = find_to_date_days(months, today=today, months_back=months_back) if to_date else (None, None)
    all_months = sorted({*months, *compared_months})
    posted_results = list_posted_results(company=company, months=all_months, days=(day, compared_day))
    if as_reported:
        posted_results = apply_reported_amounts(posted_results, company=company, months=all_months)
    categories = posted_results.categories
    actual = posted_results.get_amounts(months, up_to=day)
    if plan is None:
        planned = sum_planned_results_in_base(company, months, rates, scenario=scenario)
    else:
        planned = {key: amount for key, amount in plan.items() if key[0] in months}
        categories = categories | {
            key[2]: CategoryHeading(key[2], "", None, []) for key in planned if key[2] not in categories
        }
    if to_date:
        planned = prorate_current_month(planned, today)
    compared = shift_compared_amounts(
        posted_results.get_amounts(compared_months, up_to=compared_day), interval, comparison
    )
    sums = [sum_by_period(cells, interval, company.base_currency) for cells in (actual, planned, compared)]
    keys = {key for cells in sums for key in cells}
    periods = {get_period_start(month, interval): month for month in months}  # each with its last month
    if every_category:
        keys |= {(month, line, each.id) for month in periods for each in categories.values() for line in each.pl_types}
    lines = {line: place for place, line in enumerate(PlType.values)}
    positions = {category_id: place for place, category_id in enumerate(categories)}
    return [
        build_result_row(
            company,
            key,
            categories[key[2]],
            months=(max(key[0], months[0]), periods[key[0]]),
            amounts=[cells.get(key, ZERO) for cells in sums],
            has_comparison=comparison is not None,
            current_month=current_month,
            up_to=day,
        )
        for key in sorted(keys, key=lambda key: (key[0], lines[key[1]], positions[key[2]]))
    ]


def sum_against_plan(
    *, company: Company, months: Sequence[date], rates: RateTable, posted_results: PostedResults
) -> dict[tuple[date, str], tuple[Decimal, Decimal]]:
    """Return (month, line) -> (actual, planned), summed over categories.

    Raises:
        MissingRate: a currency has no exchange rate.
    """
    planned = sum_planned_results_in_base(company, months, rates)
    sums: dict[tuple[date, str], tuple[Decimal, Decimal]] = {}
    for (month, line, _), amount in posted_results.get_amounts(months).items():
        actual, plan = sums.get((month, line), (ZERO, ZERO))
        sums[month, line] = actual + round_half_up(amount, company.base_currency), plan
    for (month, line, _), amount in planned.items():
        actual, plan = sums.get((month, line), (ZERO, ZERO))
        sums[month, line] = actual, plan + round_half_up(amount, company.base_currency)
    return sums


def prorate_current_month(planned: Cells, today: date) -> Cells:
    """Reduce the plan of the current month to the share of its days so far."""
    current_month, days = get_first_day_of_month(today), Decimal(get_last_day_of_month(today).day)
    return {
        key: MONEY_CONTEXT.divide(amount * today.day, days) if key[0] == current_month else amount
        for key, amount in planned.items()
    }


def sum_by_period(cells: Cells, interval: PeriodInterval, base: str) -> Cells:
    """Round each month and sum by the first month of its period."""
    sums: defaultdict[tuple[date, str, UUID], Decimal] = defaultdict(lambda: ZERO)
    for (month, line, category), amount in cells.items():
        key = (get_period_start(month, interval), line, category)
        sums[key] = MONEY_CONTEXT.add(sums[key], round_half_up(amount, base))
    return dict(sums)


def count_comparison_months(interval: PeriodInterval, comparison: Comparison) -> int:
    """Return how many months lie between a period and the compared one."""
    return PERIOD_MONTHS["year" if comparison == "previousYear" else interval]


def list_compared_months(months: Sequence[date], interval: PeriodInterval, comparison: Comparison | None) -> list[date]:
    """Return the months that others are compared with; empty without a comparison."""
    if comparison is None:
        return []
    months_back = count_comparison_months(interval, comparison)
    return [add_months(month, -months_back) for month in months if count_months_between(date.min, month) >= months_back]


def shift_compared_amounts(cells: Cells, interval: PeriodInterval, comparison: Comparison | None) -> Cells:
    """Return compared amounts under the months that they are compared to."""
    if comparison is None:
        return {}
    months_ahead = count_comparison_months(interval, comparison)
    return {
        (add_months(month, months_ahead), line, category): amount for (month, line, category), amount in cells.items()
    }


def build_result_row(
    company: Company,
    key: tuple[date, str, UUID],
    category: CategoryHeading,
    *,
    months: tuple[date, date],
    amounts: Sequence[Decimal],
    has_comparison: bool,
    current_month: date,
    up_to: date | None,
) -> ResultRow:
    """Build a row; `amounts` are actual, planned and compared, in the base currency."""
    actual, planned, compared = (round_half_up(amount, company.base_currency) for amount in amounts)
    first, last = months
    shows_percentage = planned and is_percentage_shown(company, last, current_month=current_month)
    return ResultRow(
        month=key[0],
        first=first,
        last=last,
        up_to=up_to if up_to and last == current_month else None,
        pl_type=key[1],
        category_id=category.id,
        category_name=category.name,
        actual=actual,
        planned=planned,
        compared=compared if has_comparison else None,
        percentage=compute_percentage(actual, planned) if shows_percentage else None,
    )


def is_percentage_shown(company: Company, last: date, *, current_month: date) -> bool:
    """Return whether a period with that last month is shown as a percentage of its plan."""
    return last >= current_month or company.pl_show_planning_percentage_for_past_months


def compute_percentage(part: Decimal, total: Decimal) -> Decimal:
    """Return the part as a percentage of the whole, half up to two decimals.

    >>> str(compute_percentage(Decimal(250), Decimal(1000)))
    '25.00'
    """
    return MONEY_CONTEXT.divide(part * 100, total).quantize(
        Decimal("0.01"), rounding=ROUND_HALF_UP, context=MONEY_CONTEXT
    )
