"""Cash by day, and what comes in and goes out by month with what is planned."""

from collections.abc import Sequence
from datetime import date
from decimal import Decimal

from analytics import balances, cash_flow
from analytics.calc import charts
from analytics.calc.amounts import compact, rounded, whole
from analytics.overview.shape import Key, Section, Table, day_picture, month_picture, said, smallest
from companies.models import Company
from ledger.calc.fx import RateTable
from ledger.calc.months import add_months, first_of_month, last_of_month

MONTHS_AHEAD = 6
ZERO = Decimal(0)


def points(company: Company, *, months: int, today: date, rates: RateTable) -> list[balances.Point]:
    """Balances by day from the first day, so many months ago, to today. Raises MissingRate."""
    start = add_months(today, -months)
    return balances.by_cash_type(company=company, start=start, end=today, today=today, rates=rates)


def cash_section(company: Company, found: Sequence[balances.Point]) -> Section:
    """The balance of all accounts that count as cash, at the end of each day."""
    currency = company.base_currency
    values = [point.cash for point in found]
    drawn = charts.line(values, smallest=smallest(currency))
    sayings = [said(f"{point.day:%-d %B %Y}", [("Cash", rounded(point.cash, currency))]) for point in found]
    lowest = min(found, key=lambda point: point.cash)
    return Section(
        id="cash",
        title="Cash balance",
        lead="At the end of each day, over all accounts that count as cash.",
        described=(
            f"From {compact(values[0], currency)} on {found[0].day:%-d %B %Y} to {compact(values[-1], currency)} on "
            f"{found[-1].day:%-d %B %Y}; lowest {compact(lowest.cash, currency)} on {lowest.day:%-d %B %Y}."
        ),
        picture=day_picture(drawn, days=[point.day for point in found], sayings=sayings, currency=currency),
        table=Table(
            head=("Day", "Cash", "Other accounts"),
            rows=[
                (f"{point.day:%-d %b %Y}", (whole(point.cash, currency), whole(point.non_cash, currency)))
                for point in reversed(found)
            ],
        ),
    )


def forecast(company: Company, *, months: int, today: date, rates: RateTable) -> cash_flow.Forecast:
    """Actual flows of the past months and planned ones of the next, by month. Raises MissingRate."""
    return cash_flow.forecast(
        company=company,
        start=add_months(first_of_month(today), 1 - months),
        end=last_of_month(add_months(today, MONTHS_AHEAD)),
        cutover=today,
        today=today,
        interval="month",
        rates=rates,
    )


FLOW_KEYS = (
    Key("inflow", "Money in"),
    Key("outflow", "Money out"),
    Key("planned-inflow", "Planned in"),
    Key("planned-outflow", "Planned out"),
    Key("net", "Net"),
)


def flow_section(company: Company, found: cash_flow.Forecast, *, today: date) -> Section:
    """Bars up for what comes in, down for what goes out; what is planned is hatched."""
    currency, months = company.base_currency, found.actual.points
    rows = [
        dict(zip(("inflow", "outflow", "planned-inflow", "planned-outflow"), values, strict=True))
        for values in zip(
            found.actual.inflow, found.actual.outflow, found.planned.inflow, found.planned.outflow, strict=True
        )
    ]
    nets = [net(row) for row in rows]
    drawn = charts.columns([[stack_of(row)] for row in rows], smallest=smallest(currency))
    numbers = [(*row.values(), net(row)) for row in rows]
    sayings = [
        said(
            f"{month:%B %Y}",
            [
                (key.label, rounded(value, currency, plus=key.series == "net"))
                for key, value in zip(FLOW_KEYS, values, strict=True)
                if value or key.series == "net"
            ],
        )
        for month, values in zip(months, numbers, strict=True)
    ]
    ahead = sum(nets[months.index(first_of_month(today)) + 1 :], start=ZERO)
    return Section(
        id="cash-flow",
        title="Cash flow",
        lead="What came in and went out each month, and what is planned. Transfers between own accounts are left out.",
        described=(
            f"{months[0]:%B %Y} to {months[-1]:%B %Y}; in the {MONTHS_AHEAD} months after this one the plan comes to "
            f"{compact(ahead, currency)} net."
        ),
        keys=FLOW_KEYS,
        picture=month_picture(
            drawn,
            months=months,
            sayings=sayings,
            currency=currency,
            today=today,
            path=charts.points(nets, drawn),
        ),
        table=Table(
            head=("Month", *(key.label for key in FLOW_KEYS)),
            rows=[
                (f"{month:%b %Y}", [whole(value, currency) for value in values])
                for month, values in zip(months, numbers, strict=True)
            ],
        ),
    )


def net(row: dict[str, Decimal]) -> Decimal:
    """All that comes in less all that goes out, planned or not."""
    return row["inflow"] + row["planned-inflow"] - row["outflow"] - row["planned-outflow"]


def stack_of(row: dict[str, Decimal]) -> list[tuple[str, Decimal]]:
    return [(series, -value if series.endswith("outflow") else value) for series, value in row.items()]
