"""Cash by day, what lies on each account, and what comes in and goes out by month with what is planned."""

from collections.abc import Sequence
from decimal import Decimal

from django.urls import reverse

from analytics.balances import AccountBalance
from analytics.calc import charts
from analytics.overview.amounts import compact
from analytics.overview.facts import MONTHS_AHEAD, Facts
from analytics.overview.shape import Key, Section, day_picture, month_picture, smallest
from analytics.overview.tables import Column, Kind, Row, Table, day_rows, month_rows
from ledger.calc.months import last_of_month

ZERO = Decimal(0)
BALANCE_HEIGHT = 332  # about that of the accounts beside it
BALANCE_KEYS = (Key("cash", "Cash", line=True), Key("nonCash", "Other accounts", line=True))


def balance_section(facts: Facts) -> Section:
    """The balances of the accounts that count as cash and of all others, at the end of each day."""
    currency, found = facts.currency, facts.points
    values = [point.cash for point in found]
    drawn = charts.lines(
        [values, [point.non_cash for point in found]], smallest=smallest(currency), height=BALANCE_HEIGHT
    )
    lowest = min(found, key=lambda point: point.cash)
    return Section(
        id="cash-balance",
        title="Cash balance",
        lead="At the end of each day. Other accounts are cards, loans and money in transit.",
        described=(
            f"From {compact(values[0], currency)} on {found[0].day:%-d %B %Y} to {compact(values[-1], currency)} on "
            f"{found[-1].day:%-d %B %Y}; lowest {compact(lowest.cash, currency)} on {lowest.day:%-d %B %Y}."
        ),
        keys=BALANCE_KEYS,
        picture=day_picture(
            drawn,
            series=[key.series for key in BALANCE_KEYS],
            days=[point.day for point in found],
            currency=currency,
            height=BALANCE_HEIGHT,
        ),
        nothing="No money on the accounts in these months. Balances follow from the transactions.",
        table=Table(
            first="Day",
            columns=[Column(key.label) for key in BALANCE_KEYS],
            rows=day_rows((point.day for point in found), ((point.cash, point.non_cash) for point in found)),
            currency=currency,
            newest_first=True,
        ),
        span=4,
    )


def account_section(facts: Facts) -> Section:
    """What each account holds, and by how much that changed."""
    found = facts.accounts
    total = sum((each.value for each in found), start=ZERO), sum((each.change for each in found), start=ZERO)
    return Section(
        id="accounts",
        title="Accounts",
        lead=f"Today, and the change since {facts.start:%-d %b %Y}.",
        nothing="" if found else "No account yet.",
        table=Table(
            first="Account",
            columns=[Column("Balance"), Column("Change", Kind.CHANGE)],
            rows=[
                *(account_row(facts, each) for each in found),
                Row("All accounts", "All accounts", total, sum=True),
            ],
            currency=facts.currency,
        ),
        unfolded=True,
        span=2,
    )


def account_row(facts: Facts, account: AccountBalance) -> Row:
    link = reverse("account", args=[facts.company.id, account.account_id]) if facts.opens_accounts else ""
    return Row(account.account_name, account.account_name, (account.value, account.change), link=link)


FLOW_KEYS = (
    Key("inflow", "Money in"),
    Key("outflow", "Money out"),
    Key("planned-inflow", "Planned in"),
    Key("planned-outflow", "Planned out"),
    Key("net", "Net", line=True),
)


def flow_section(facts: Facts) -> Section:
    """Bars up for what comes in, down for what goes out; what is planned is hatched."""
    currency, found = facts.currency, facts.flows
    months = found.actual.points
    rows = [
        dict(zip(("inflow", "outflow", "planned-inflow", "planned-outflow"), values, strict=True))
        for values in zip(
            found.actual.inflow, found.actual.outflow, found.planned.inflow, found.planned.outflow, strict=True
        )
    ]
    nets = [net(row) for row in rows]
    drawn = charts.columns([[stack_of(row)] for row in rows], smallest=smallest(currency))
    here = months.index(facts.month)
    ahead = sum(nets[here + 1 :], start=ZERO)
    return Section(
        id="cash-flow",
        title="Cash flow",
        lead="What came in and went out each month, and what is planned. Transfers between own accounts are left out.",
        described=(
            f"{months[0]:%B %Y} to {months[-1]:%B %Y}; up to {facts.today:%-d %B %Y} it is what happened, and after it "
            f"what is planned. In the {MONTHS_AHEAD} months after this one the plan comes to "
            f"{compact(ahead, currency)} net."
        ),
        nothing="Nothing came in or went out in these months, and nothing is planned.",
        keys=FLOW_KEYS,
        picture=month_picture(
            drawn,
            months=months,
            currency=currency,
            today=facts.today,
            path=charts.points(nets, drawn),
            cutover=round((here + facts.today.day / last_of_month(facts.today).day) * 100 / len(months), 3),
        ),
        table=Table(
            first="Month",
            columns=[Column(key.label) for key in FLOW_KEYS],
            rows=month_rows(months, ((*row.values(), after) for row, after in zip(rows, nets, strict=True))),
            currency=currency,
        ),
    )


def net(row: dict[str, Decimal]) -> Decimal:
    """All that comes in less all that goes out, planned or not."""
    return row["inflow"] + row["planned-inflow"] - row["outflow"] - row["planned-outflow"]


def stack_of(row: dict[str, Decimal]) -> Sequence[tuple[str, Decimal]]:
    return [(series, -value if series.endswith("outflow") else value) for series, value in row.items()]
