"""Revenue and expenses month by month: bars, and the profit and loss statement beside its plan.

Amounts are recognised ones, each converted at its transaction's own day when it was posted; what is shown is rounded
once. Expenses are positive; the lines ``no`` and ``neutral`` have the sign of the cash.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from decimal import ROUND_HALF_UP, Decimal
from uuid import UUID

from django.db import connection

from companies.models import Company
from ledger.calc.fx import RateTable, convert
from ledger.calc.money import WIDE, round_half_up
from ledger.calc.months import first_of_month, last_of_month
from ledger.models import Category, MonthResult, PlType
from planning.forecasting import planned_results

ZERO = Decimal(0)
REVENUES = ("revenueRecurring", "revenueOneOff", "revenueUsage")  # system keys of categories; all others are the rest
REVENUE_OTHER = "revenueOther"
EXPENSES = (PlType.COGS, PlType.CAC, PlType.PD, PlType.GA)
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


def shown(line: str, amount: Decimal) -> Decimal:
    """An amount with the cash's sign as the statement shows it."""
    return -amount if line in EXPENSES else amount


@dataclass(frozen=True, slots=True)
class Result:
    """What a category brought or cost on a line of the statement in a month, and what the plan says.

    ``percentage`` is actual of planned, half-up to two decimals; None without a plan, and where it is not to be shown.
    """

    month: date
    pl_type: str
    category_id: UUID
    category_name: str
    actual: Decimal
    planned: Decimal
    percentage: Decimal | None


def profit_and_loss(
    *, company: Company, months: Sequence[date], today: date, every_category: bool, rates: RateTable
) -> list[Result]:
    """Rows by month, line and category: where anything is posted or planned, or for every category and its lines.

    ``months`` are first days of consecutive months. Raises MissingRate.
    """
    actual = actual_results(company, months)
    planned = planned_in_base(company, months, rates)
    categories = {category.id: category for category in Category.objects.of(company.id).in_order()}
    keys = actual.keys() | planned.keys()
    if every_category:
        keys |= {(month, line, each.id) for month in months for each in categories.values() for line in each.pl_types}
    lines = {line: place for place, line in enumerate(PlType.values)}
    places = {category_id: place for place, category_id in enumerate(categories)}
    return [
        result(
            company,
            month,
            line,
            categories[category_id],
            actual=actual.get((month, line, category_id), ZERO),
            planned=planned.get((month, line, category_id), ZERO),
            today=today,
        )
        for month, line, category_id in sorted(keys, key=lambda key: (key[0], lines[key[1]], places[key[2]]))
    ]


def actual_results(company: Company, months: Sequence[date]) -> dict[tuple[date, str, UUID], Decimal]:
    """(month, line, category) -> amount as shown, not rounded."""
    rows = MonthResult.objects.of(company.id).filter(month__range=(months[0], months[-1]), count__gt=0)
    found = rows.values_list("month", "pl_type", "category_id", "base_amount")
    return {(month, line, category): shown(line, amount) for month, line, category, amount in found}


def planned_in_base(
    company: Company, months: Sequence[date], rates: RateTable
) -> dict[tuple[date, str, UUID], Decimal]:
    """(month, line, category) -> planned amount at the month's latest rate, not rounded."""
    found: defaultdict[tuple[date, str, UUID], Decimal] = defaultdict(lambda: ZERO)
    for (month, line, category), sums in planned_results(company, list(months)).items():
        for amount, currency in sums:
            worth = convert(
                amount, source=currency, target=company.base_currency, day=last_of_month(month), rates=rates
            )
            found[month, line, category] = WIDE.add(found[month, line, category], worth)
    return dict(found)


def result(
    company: Company, month: date, line: str, category: Category, *, actual: Decimal, planned: Decimal, today: date
) -> Result:
    actual, planned = round_half_up(actual, company.base_currency), round_half_up(planned, company.base_currency)
    past = month < first_of_month(today)
    told = planned and (not past or company.pl_show_planning_percentage_for_past_months)
    return Result(
        month=month,
        pl_type=line,
        category_id=category.id,
        category_name=category.name,
        actual=actual,
        planned=planned,
        percentage=percentage(actual, planned) if told else None,
    )


def percentage(part: Decimal, whole: Decimal) -> Decimal:
    """How many hundredths of the whole the part is, half-up to two decimals.

    >>> str(percentage(Decimal(250), Decimal(1000)))
    '25.00'
    """
    return WIDE.divide(part * 100, whole).quantize(Decimal("0.01"), rounding=ROUND_HALF_UP, context=WIDE)
