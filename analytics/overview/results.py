"""Revenue and expenses by month, side by side."""

from collections.abc import Sequence
from datetime import date
from decimal import Decimal

from analytics import results
from analytics.calc import charts
from analytics.calc.amounts import compact, rounded, whole
from analytics.overview.shape import Key, Section, Table, month_picture, said, smallest
from companies.models import Company
from ledger.calc.months import add_months, first_of_month

ZERO = Decimal(0)
SET_IN = "\u2003"
REVENUE = (
    Key("revenueRecurring", "Recurring"),
    Key("revenueUsage", "Usage"),
    Key("revenueOneOff", "One-off"),
    Key("revenueOther", "Other revenue"),
)
EXPENSES = (
    Key("cogs", "Cost of revenue"),
    Key("cac", "Sales and marketing"),
    Key("pd", "Product development"),
    Key("ga", "General and administration"),
)


def result_section(company: Company, *, months: int, today: date) -> Section:
    """What was earned and spent by the months it belongs to, whenever it was paid."""
    currency = company.base_currency
    calendar = [add_months(first_of_month(today), number - months + 1) for number in range(months)]
    rows = results.bars(company=company, months=calendar)
    drawn = charts.columns(
        [[stack_of(row, REVENUE), stack_of(row, EXPENSES)] for row in rows], smallest=smallest(currency)
    )
    sums = [(total(row, REVENUE), total(row, EXPENSES)) for row in rows]
    sayings = [
        said(
            f"{month:%B %Y}",
            [
                ("Revenue", rounded(revenue, currency)),
                *parts_of(row, REVENUE, currency),
                ("Expenses", rounded(expenses, currency)),
                *parts_of(row, EXPENSES, currency),
            ],
        )
        for month, row, (revenue, expenses) in zip(calendar, rows, sums, strict=True)
    ]
    earned, spent = (sum((pair[side] for pair in sums), start=ZERO) for side in (0, 1))
    used = [key for key in (*REVENUE, *EXPENSES) if any(row[key.series] for row in rows)]
    return Section(
        id="results",
        title="Revenue and expenses",
        lead="By the month they belong to, whenever they were paid; contracts for a year count a twelfth each month.",
        described=(
            f"{calendar[0]:%B %Y} to {calendar[-1]:%B %Y}: revenue {compact(earned, currency)}, "
            f"expenses {compact(spent, currency)}."
        ),
        keys=used,
        picture=month_picture(drawn, months=calendar, sayings=sayings, currency=currency, today=today),
        table=Table(
            head=("Month", *(key.label for key in REVENUE), *(key.label for key in EXPENSES), "Result"),
            rows=[
                (
                    f"{month:%b %Y}",
                    [
                        *(whole(row[key.series], currency) for key in (*REVENUE, *EXPENSES)),
                        whole(revenue - expenses, currency),
                    ],
                )
                for month, row, (revenue, expenses) in zip(calendar, rows, sums, strict=True)
            ],
        ),
    )


def parts_of(row: dict[str, Decimal], keys: Sequence[Key], currency: str) -> list[tuple[str, str]]:
    """What a sum is made of, set in below it."""
    return [(f"{SET_IN}{key.label}", rounded(row[key.series], currency)) for key in keys if row[key.series]]


def stack_of(row: dict[str, Decimal], keys: Sequence[Key]) -> list[tuple[str, Decimal]]:
    return [(key.series, row[key.series]) for key in keys]


def total(row: dict[str, Decimal], keys: Sequence[Key]) -> Decimal:
    return sum((row[key.series] for key in keys), start=ZERO)
