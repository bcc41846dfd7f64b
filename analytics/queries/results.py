"""Revenue and expenses month by month: bars, and the profit and loss statement beside its plan.

Amounts are recognised ones, each converted at its transaction's own day when it was posted. What is shown of a month is
rounded once, and longer periods add up what is shown of their months. Expenses are positive; the lines ``no`` and
``neutral`` have the sign of the cash.
"""

from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import ROUND_HALF_UP, Decimal
from typing import Any, Literal, NamedTuple
from uuid import UUID

from django.db import connection

from analytics.calc.periods import LENGTHS, Period, period_of, same_day
from companies.models import Company
from ledger.calc.fx import RateTable
from ledger.calc.money import WIDE, round_half_up
from ledger.calc.months import add_months, first_of_month, last_of_month, months_between
from ledger.models import EXPENSES, PlType
from ledger.recognition.by_day import UP_TO_DAY
from planning.forecasting import planned_in_base

Comparison = Literal["previousPeriod", "previousYear"]

ZERO = Decimal(0)
REVENUES = ("revenueRecurring", "revenueOneOff", "revenueUsage")  # system keys of categories; all others are the rest
REVENUE_OTHER = "revenueOther"
BARS = (*REVENUES, REVENUE_OTHER, *(expense.value for expense in EXPENSES))

_BARS = """
    SELECT r.month, CASE WHEN r.pl_type <> 'revenue' THEN r.pl_type
                         WHEN c.system_key = ANY(%(revenues)s) THEN c.system_key
                         ELSE %(other)s END AS bar, sum(r.base_amount)
      FROM ledger_monthresult AS r
      JOIN ledger_category AS c ON c.company_id = r.company_id AND c.id = r.category_id
     WHERE r.company_id = %(company)s AND r.month BETWEEN %(first)s AND %(last)s AND r.pl_type = ANY(%(lines)s)
     GROUP BY 1, 2
"""


def bars(*, company: Company, months: Sequence[date]) -> list[dict[str, Decimal]]:
    """Bar -> amount for each of the months (first days, consecutive), zero where there is nothing."""
    with connection.cursor() as cursor:
        cursor.execute(
            _BARS,
            {
                "company": company.id,
                "first": months[0],
                "last": months[-1],
                "revenues": list(REVENUES),
                "other": REVENUE_OTHER,
                "lines": [PlType.REVENUE.value, *EXPENSES],
            },
        )
        found = {(month, bar): amount for month, bar, amount in cursor.fetchall()}
    return [
        {bar: round_half_up(shown(bar, found.get((month, bar), ZERO)), company.base_currency) for bar in BARS}
        for month in months
    ]


def bars_of(posted: "Posted", *, months: Sequence[date], base: str) -> list[dict[str, Decimal]]:
    """The same of months whose results are known."""
    sums: defaultdict[tuple[date, str], Decimal] = defaultdict(lambda: ZERO)
    for (month, line, category), amount in posted.of(months).items():
        sums[month, bar_of(line, posted.categories[category])] += amount
    return [{bar: round_half_up(sums[month, bar], base) for bar in BARS} for month in months]


def bar_of(line: str, category: "Heading") -> str:
    """The bar that shows a line's category; lines that no bar shows are their own."""
    if line != PlType.REVENUE:
        return line
    return category.system_key if category.system_key in REVENUES else REVENUE_OTHER


def shown(line: str, amount: Decimal) -> Decimal:
    """An amount with the cash's sign as the statement shows it."""
    return -amount if line in EXPENSES else amount


class Result(NamedTuple):
    """What a category brought or cost on a line of the statement in a period, and what the plan says.

    ``month`` is the period's first; of its months those from ``first`` to ``last`` were asked for, the last one as far
    as ``up_to`` where that is not None. ``compared`` is what it was in the period that it is compared with, None where
    it is with none. ``percentage`` is actual of planned, half-up to two decimals; None without a plan, and where it is
    not to be shown.
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

    @property
    def favourable(self) -> bool | None:
        return is_favourable(self.pl_type, self.variance)


def is_favourable(line: str, variance: Decimal | None) -> bool | None:
    """Whether a variance from the plan is good for the result; None without one and on neutral lines.

    >>> is_favourable("revenue", Decimal(5)), is_favourable("ga", Decimal(5)), is_favourable("neutral", Decimal(5))
    (True, False, None)
    """
    if not variance or line == PlType.NEUTRAL:
        return None
    return (variance > 0) is (line not in EXPENSES)


Cells = dict[tuple[date, str, UUID], Decimal]
"""(month, line, category) -> amount as shown, not rounded."""


class Heading(NamedTuple):
    """What the statement needs of a category, without a model's weight; columns of ``_HEADINGS``."""

    id: UUID
    name: str
    system_key: str | None
    pl_types: list[str]


_HEADINGS = """
    SELECT id, name, system_key, pl_types FROM ledger_category WHERE company_id = %(company)s ORDER BY "order", name, id
"""


@dataclass(frozen=True, slots=True)
class Posted:
    """What counts in some months, what of it counts only after some days of theirs, and the company's categories in
    their order."""

    cells: Cells
    after: dict[date, Cells]
    categories: dict[UUID, Heading]

    def of(self, months: Sequence[date], *, up_to: date | None = None) -> Cells:
        """Of these months, the last one up to a day; all of it where that is None."""
        wanted = set(months)
        after = self.after[up_to] if up_to else {}
        return {
            key: WIDE.subtract(amount, after.get(key, ZERO)) for key, amount in self.cells.items() if key[0] in wanted
        }


def posted(*, company: Company, months: Sequence[date], days: Collection[date | None] = ()) -> Posted:
    """``days`` are those up to which their months are asked for. Two queries."""
    with connection.cursor() as cursor:
        cursor.execute(_HEADINGS, {"company": company.id})
        categories = {row[0]: Heading(*row) for row in cursor.fetchall()}
    cuts = {day for day in days if day}
    cells, after = actual_results(company, months, cuts)
    return Posted(cells, after, categories)


def cuts_of(months: Sequence[date], *, today: date, back: int | None) -> tuple[date | None, date | None]:
    """Up to which day the last of the months counts, and that of the months so many before, where they are compared
    with those: today and the same day of the other where it is under way, None where it counts whole.

    On its last day a month counts whole, beside all of the other.
    """
    if not months or months[-1] != first_of_month(today) or today == last_of_month(today):
        return None, None
    return today, same_day(today, -back) if back else None


def profit_and_loss(
    *,
    company: Company,
    months: Sequence[date],
    today: date,
    every_category: bool,
    rates: RateTable,
    interval: Period = "month",
    comparison: Comparison | None = None,
    to_date: bool = False,
) -> list[Result]:
    """Rows by period, line and category: where anything is posted, planned or compared with, or for every category.

    ``months`` are first days of consecutive months. With ``to_date`` those after the running one are left out, which
    counts up to today, as do its plan and what it is compared with, that to the same day. Raises MissingRate.
    """
    running = first_of_month(today)
    if to_date:
        months = [month for month in months if month <= running]
    if not months:
        return []
    earlier = before(months, interval, comparison)
    back = distance(interval, comparison) if comparison else None
    day, same = cuts_of(months, today=today, back=back) if to_date else (None, None)
    known = posted(company=company, months=sorted({*months, *earlier}), days=(day, same))
    categories = known.categories
    actual = known.of(months, up_to=day)
    planned = planned_in_base(company, months, rates)
    if to_date:
        planned = up_to(planned, today)
    compared = moved(known.of(earlier, up_to=same), interval, comparison)
    sums = [by_period(cells, interval, company.base_currency) for cells in (actual, planned, compared)]
    keys = {key for cells in sums for key in cells}
    periods = {period_of(month, interval): month for month in months}  # each with its last month
    if every_category:
        keys |= {(month, line, each.id) for month in periods for each in categories.values() for line in each.pl_types}
    lines = {line: place for place, line in enumerate(PlType.values)}
    places = {category_id: place for place, category_id in enumerate(categories)}
    return [
        result(
            company,
            key,
            categories[key[2]],
            months=(max(key[0], months[0]), periods[key[0]]),
            amounts=[cells.get(key, ZERO) for cells in sums],
            compares=comparison is not None,
            running=running,
            up_to=day,
        )
        for key in sorted(keys, key=lambda key: (key[0], lines[key[1]], places[key[2]]))
    ]


def sum_against_plan(
    *, company: Company, months: Sequence[date], rates: RateTable, known: Posted
) -> dict[tuple[date, str], tuple[Decimal, Decimal]]:
    """Return (month, line) -> (actual, planned): what ``profit_and_loss`` answers of its categories together.

    Raises:
        MissingRate: a currency has no exchange rate.
    """
    planned = planned_in_base(company, months, rates)
    found: dict[tuple[date, str], tuple[Decimal, Decimal]] = {}
    for (month, line, _), amount in known.of(months).items():
        actual, plan = found.get((month, line), (ZERO, ZERO))
        found[month, line] = actual + round_half_up(amount, company.base_currency), plan
    for (month, line, _), amount in planned.items():
        actual, plan = found.get((month, line), (ZERO, ZERO))
        found[month, line] = actual, plan + round_half_up(amount, company.base_currency)
    return found


def up_to(planned: Cells, today: date) -> Cells:
    """The plan of the running month by the days so far."""
    running, days = first_of_month(today), Decimal(last_of_month(today).day)
    return {
        key: WIDE.divide(amount * today.day, days) if key[0] == running else amount for key, amount in planned.items()
    }


def by_period(cells: Cells, interval: Period, base: str) -> Cells:
    """Each month's rounded, and added up by the first months of their periods."""
    found: defaultdict[tuple[date, str, UUID], Decimal] = defaultdict(lambda: ZERO)
    for (month, line, category), amount in cells.items():
        key = (period_of(month, interval), line, category)
        found[key] = WIDE.add(found[key], round_half_up(amount, base))
    return dict(found)


def distance(interval: Period, comparison: Comparison) -> int:
    """How many months lie between a period and the one that it is compared with."""
    return LENGTHS["year" if comparison == "previousYear" else interval]


def before(months: Sequence[date], interval: Period, comparison: Comparison | None) -> list[date]:
    """The months that those are compared with; none where they are with none or the calendar has none."""
    if comparison is None:
        return []
    back = distance(interval, comparison)
    return [add_months(month, -back) for month in months if months_between(date.min, month) >= back]


def moved(cells: Cells, interval: Period, comparison: Comparison | None) -> Cells:
    """What was compared with, under the months that it is compared to."""
    if comparison is None:
        return {}
    ahead = distance(interval, comparison)
    return {(add_months(month, ahead), line, category): amount for (month, line, category), amount in cells.items()}


_RESULTS = """
    SELECT NULL::date, month, pl_type, category_id, base_amount
      FROM ledger_monthresult
     WHERE company_id = %(company)s AND month BETWEEN %(first)s AND %(last)s AND count > 0
"""
_AFTER = f"""
     UNION ALL
    SELECT cut.day, p.month, p.pl_type, p.category_id, sum(p.base_amount - {UP_TO_DAY})
      FROM unnest(%(days)s::date[]) AS cut (day)
      JOIN ledger_posting AS p ON p.company_id = %(company)s AND p.month = date_trunc('month', cut.day)::date
      JOIN ledger_categorization AS c ON c.company_id = %(company)s AND c.id = p.categorization_id
      JOIN ledger_transaction AS t ON t.company_id = %(company)s AND t.id = c.transaction_id
     WHERE t.date > cut.day OR c.computed_end_date > cut.day
     GROUP BY 1, 2, 3, 4
"""  # noqa: S608 - what stands in by_day


def actual_results(
    company: Company, months: Sequence[date], days: Collection[date] = ()
) -> tuple[Cells, dict[date, Cells]]:
    """What counts in the months, and what of it counts after each of some days of theirs; one query."""
    cells: Cells = {}
    after: dict[date, Cells] = {day: {} for day in days}
    if not months:
        return cells, after
    asked: dict[str, Any] = {"company": company.id, "first": months[0], "last": months[-1], "days": list(days)}
    with connection.cursor() as cursor:
        cursor.execute(_RESULTS + _AFTER if days else _RESULTS, asked)
        for day, month, line, category, amount in cursor.fetchall():
            (after[day] if day else cells)[month, line, category] = shown(line, amount)
    return cells, after


def result(
    company: Company,
    key: tuple[date, str, UUID],
    category: Heading,
    *,
    months: tuple[date, date],
    amounts: Sequence[Decimal],
    compares: bool,
    running: date,
    up_to: date | None,
) -> Result:
    """A row; ``amounts`` are actual, planned and compared, in the base currency's decimals or nothing."""
    actual, planned, compared = (round_half_up(amount, company.base_currency) for amount in amounts)
    first, last = months
    told = planned and tells_share(company, last, running=running)
    return Result(
        month=key[0],
        first=first,
        last=last,
        up_to=up_to if up_to and last == running else None,
        pl_type=key[1],
        category_id=category.id,
        category_name=category.name,
        actual=actual,
        planned=planned,
        compared=compared if compares else None,
        percentage=percentage(actual, planned) if told else None,
    )


def tells_share(company: Company, last: date, *, running: date) -> bool:
    """Whether a period with that last month is shown as a share of its plan."""
    return last >= running or company.pl_show_planning_percentage_for_past_months


def percentage(part: Decimal, whole: Decimal) -> Decimal:
    """How many hundredths of the whole the part is, half-up to two decimals.

    >>> str(percentage(Decimal(250), Decimal(1000)))
    '25.00'
    """
    return WIDE.divide(part * 100, whole).quantize(Decimal("0.01"), rounding=ROUND_HALF_UP, context=WIDE)
