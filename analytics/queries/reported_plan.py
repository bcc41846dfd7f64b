"""The plan that reports show: closings keep that of their calendar year, as it was when the month was closed."""

from collections import defaultdict
from collections.abc import Sequence
from datetime import date
from decimal import Decimal
from typing import Any
from uuid import UUID

from analytics.queries.posted_results import Cells
from companies.models import Company
from ledger.calc.months import MONTHS_PER_YEAR, add_months, list_months
from ledger.models import Closing
from ledger.money.calc.fx import RateLookupError
from ledger.money.calc.money import round_half_up
from ledger.money.rates import get_rate_table
from planning.forecast.queries import sum_planned_results_in_base

ZERO = Decimal(0)
StoredPlan = list[dict[str, Any]]
"""Objects with plType, categoryId and values: the amounts of the year's twelve months as text, in the base currency."""


def list_plans_to_report(company: Company, months: Sequence[date]) -> dict[date, StoredPlan]:
    """Return the plan of the calendar year of each month; one statement.

    Empty if a planned currency has no exchange rate, which does not prevent closing.
    """
    if not months:
        return {}
    first, last = months[0].replace(month=1), add_months(months[-1].replace(month=1), MONTHS_PER_YEAR - 1)
    try:
        planned = sum_planned_results_in_base(company, list_months(first, last), get_rate_table())
    except RateLookupError:
        return {}
    values: defaultdict[tuple[int, str, UUID], list[Decimal]] = defaultdict(lambda: [ZERO] * MONTHS_PER_YEAR)
    for (month, line, category_id), amount in planned.items():
        values[month.year, line, category_id][month.month - 1] = round_half_up(amount, company.base_currency)
    plans_by_year: defaultdict[int, StoredPlan] = defaultdict(list)
    for (year, line, category_id), amounts in sorted(values.items()):
        if any(amounts):
            row = {"plType": line, "categoryId": str(category_id), "values": [str(amount) for amount in amounts]}
            plans_by_year[year].append(row)
    return {month: plans_by_year[month.year] for month in months}


def read_stored_plan(closing: Closing) -> Cells | None:
    """Return the planned amounts that a closing stores; None if it stores none."""
    if closing.plan is None:
        return None
    january = closing.month.replace(month=1)
    return {
        (add_months(january, place), row["plType"], UUID(row["categoryId"])): Decimal(value)
        for row in closing.plan
        for place, value in enumerate(row["values"])
        if Decimal(value)
    }
