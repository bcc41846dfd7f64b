"""Cash by day, what lies on each account, and what comes in and goes out by month with what is planned."""

from collections.abc import Iterable, Sequence
from datetime import date
from decimal import Decimal

from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from analytics.calc import charts
from analytics.overview.amounts import brief, compact
from analytics.overview.compared import against
from analytics.overview.drawing import Mark
from analytics.overview.facts import Facts
from analytics.overview.links import Links
from analytics.overview.shape import Key, Section, day_picture, month_picture, smallest
from analytics.overview.tables import Cell, Column, Kind, Row, Table, day_rows, month_rows
from analytics.period import ONE_DAY, Period
from analytics.queries.balance_forecast import BalanceForecast, at_ends
from analytics.queries.balances import AccountBalance
from companies.locales import current
from companies.models import Company
from ledger.calc.months import format_month, last_of_month

ZERO = Decimal(0)
BALANCE_HEIGHT = 332  # about that of the accounts beside it
BALANCE_KEYS = (
    Key("cash", gettext_lazy("Cash"), line=True),
    Key("projected", gettext_lazy("Projected cash"), line=True),
    Key("nonCash", gettext_lazy("Other accounts"), line=True),
)
EACH = {
    "day": gettext_lazy("At the end of each day; {opening}."),
    "month": gettext_lazy("At the end of each month; {opening}."),
}
NOTHING_PLANNED = gettext_lazy("Nothing planned yet. Add planned payments to see a forecast.")
Balances = tuple[Decimal | None, Decimal | None, Decimal | None]
"""(cash, projected cash, other accounts)"""


def balance_section(facts: Facts) -> Section:
    """The balances of the accounts that count as cash and of all others at the end of each day, and the cash expected
    up to the last day of the period."""
    currency, ahead = facts.currency, facts.ahead
    found = balances_of(facts)
    days = [*found]
    cash, projected, others = (list(column) for column in zip(*found.values(), strict=True))
    here = last_known(cash)
    lines_start = facts.first_days
    cash = since(lines_start[True], cash, days) if lines_start[True] else cash
    others = since(lines_start[False], others, days)
    drawn = charts.lines(
        [cash, begun(projected, cash, here), others], smallest=smallest(currency), height=BALANCE_HEIGHT
    )
    links = Links(facts)
    by_day = facts.interval == "day"
    rows = day_rows if by_day else bucket_rows
    return Section(
        id="cash-balance",
        title=_("Cash balance"),
        lead=f"{EACH[facts.interval].format(opening=opened(facts))} {told_ahead(facts)}",
        described=described(facts),
        keys=BALANCE_KEYS if ahead.projected else (BALANCE_KEYS[0], BALANCE_KEYS[2]),
        picture=day_picture(
            drawn,
            series=[key.series for key in BALANCE_KEYS],
            days=days,
            currency=currency,
            height=BALANCE_HEIGHT,
            marks=lowest_marks(ahead, days, drawn, currency),
            cutover=round(here * 100 / max(len(days) - 1, 1), 3) if ahead.projected else None,
        ),
        nothing=_("No money on the accounts in these months. Balances follow from the transactions."),
        action=plan_action(facts.company, ahead, writes=facts.writes_plan),
        table=Table(
            first=_("Day") if by_day else _("Month"),
            columns=[Column(key.label) for key in BALANCE_KEYS],
            rows=rows(days, found.values(), [links.days(*each) for each in buckets(facts.period, days)]),
            currency=currency,
            newest_first=True,
        ),
        span=4,
    )


def since(first: date | None, values: Sequence[Decimal | None], points: Sequence[date]) -> list[Decimal | None]:
    """The values of the points from the one in which a first day lies; None before it, and for no first day.

    >>> days = [date(2026, 1, 1), date(2026, 2, 1), date(2026, 3, 1)]
    >>> since(date(2026, 2, 20), [Decimal(0), Decimal(5), Decimal(7)], days)
    [None, Decimal('5'), Decimal('7')]
    """
    lasts = [*(following - ONE_DAY for following in points[1:]), None]
    return [
        value if first and (last is None or last >= first) else None for value, last in zip(values, lasts, strict=True)
    ]


def last_known(values: Sequence[Decimal | None]) -> int:
    """The place of the last point of which something is known."""
    return max(index for index, value in enumerate(values) if value is not None)


def begun(projected: Sequence[Decimal | None], known: Sequence[Decimal | None], here: int) -> list[Decimal | None]:
    """The projected line from where the known one ends."""
    joins = any(value is not None for value in projected)
    return [
        known[here] if joins and index == here and value is None else value for index, value in enumerate(projected)
    ]


def lowest_marks(ahead: BalanceForecast, days: Sequence[date], drawn: charts.Lines, currency: str) -> list[Mark]:
    """The projected day with the least, where anything is planned."""
    if not ahead.lowest or not ahead.has_plans:
        return []
    day, value = ahead.lowest
    x = max(index for index, each in enumerate(days) if each <= day) * 100 / max(len(days) - 1, 1)
    text = _("Lowest {amount}, {day}").format(amount=compact(value, currency), day=current().short(day))
    return [Mark(x=round(x, 3), y=drawn.scale.y(value), text=text, kind="low" if value < 0 else "")]


def balances_of(facts: Facts) -> dict[date, Balances]:
    """First day of a point -> its balances at its end."""
    ahead, interval = facts.ahead, facts.interval
    others = {point.day: point.non_cash for point in facts.points}
    known = at_ends(others, start=facts.start, end=facts.until, interval=interval)
    found: dict[date, Balances] = {
        day: (cash, None, other) for (day, cash), (_, other) in zip(ahead.actual, known, strict=True)
    }
    for day, value in ahead.projected:
        cash, _, other = found.get(day, (None, None, None))
        found[day] = (cash, value, other)
    return found


def buckets(period: Period, points: Sequence[date]) -> list[tuple[date, date]]:
    """The first and the last day of each point."""
    lasts = [*(following - ONE_DAY for following in points[1:]), period.last]
    return [(max(first, period.first), last) for first, last in zip(points, lasts, strict=True)]


def bucket_rows(days: Iterable[date], cells: Iterable[Sequence[Cell]], links: Iterable[str]) -> list[Row]:
    named = current().month
    return [
        Row(format_month(day), named(day), values, link=link)
        for day, values, link in zip(days, cells, links, strict=True)
    ]


def told_ahead(facts: Facts) -> str:
    """When the cash is lowest, and when it runs out."""
    said = lowest_told(facts.ahead, facts.period, facts.currency)
    return said or _("Other accounts are cards, loans and money in transit.")


def lowest_told(ahead: BalanceForecast, period: Period, currency: str) -> str:
    """The same of any forecast; "" where nothing is projected, and only that where nothing is planned."""
    if not ahead.lowest:
        return ""
    if not ahead.has_plans:
        return str(NOTHING_PLANNED)
    day_of, (day, value) = current().day_of, ahead.lowest
    words = {"last": day_of(period.last), "amount": brief(value, currency), "day": day_of(day)}
    if ahead.below_zero:
        text = _("Expected up to {last}: lowest {amount} on {day}, below zero from {first}.")
        return text.format(first=day_of(ahead.below_zero[0]), **words)
    return _("Expected up to {last}: lowest {amount} on {day}, never below zero.").format(**words)


def plan_action(company: Company, ahead: BalanceForecast, *, writes: bool) -> tuple[str, str] | None:
    """(address, label) of where something is planned, where nothing is yet and the viewer may."""
    if not writes or not ahead.lowest or ahead.has_plans:
        return None
    return reverse("planned-new", args=[company.id]), _("Add planned payments")


def described(facts: Facts) -> str:
    """What the lines say, for those who do not see them."""
    currency, (opening, *found), long = facts.currency, facts.levels, current().long
    if (first := facts.first_days[True]) and first > facts.start:
        found = [point for point in found if point.day >= first]
        opening = found[0]
        text = _("From {start} on {first} to {end} on {last}; lowest {lowest} on {day}.")
    else:
        first = facts.start
        text = _("From {start} before {first} to {end} on {last}; lowest {lowest} on {day}.")
    lowest = min(found, key=lambda point: point.cash)
    text = text.format(
        start=compact(opening.cash, currency),
        first=long(first),
        end=compact(found[-1].cash, currency),
        last=long(found[-1].day),
        lowest=compact(lowest.cash, currency),
        day=long(lowest.day),
    )
    return f"{text} {told_ahead(facts)}"


def opened(facts: Facts) -> str:
    """The cash with which the period begins, as on the page of its changes, or with which the data begins in it."""
    first = facts.first_days[True]
    if first and first > facts.start:
        opening = next(point.cash for point in facts.points if point.day == first)
        return _("{amount} on {day}").format(amount=brief(opening, facts.currency), day=current().day_of(first))
    opening = facts.levels[0].cash
    return _("{amount} before {day}").format(amount=brief(opening, facts.currency), day=current().day_of(facts.start))


def account_section(facts: Facts) -> Section:
    """What each account holds, and by how much that changed."""
    found = facts.accounts
    lead = _("Today, and the change from {start} on.")
    if facts.until != facts.today:
        lead = _("On {day}, and the change from {start} on.")
    account, balance, change = _("Account, Balance, Change").split(", ")
    total = sum((each.value for each in found), start=ZERO), sum((each.change for each in found), start=ZERO)
    return Section(
        id="accounts",
        title=_("Accounts"),
        lead=lead.format(day=current().day_of(facts.until), start=current().day_of(facts.start)),
        nothing="" if found else _("No account yet."),
        table=Table(
            first=account,
            columns=[Column(balance), Column(change, Kind.CHANGE)],
            rows=[
                *(account_row(facts, each) for each in found),
                Row(_("All accounts"), _("All accounts"), total, sum=True),
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
    Key("inflow", gettext_lazy("Money in")),
    Key("outflow", gettext_lazy("Money out")),
    Key("planned-inflow", gettext_lazy("Planned in")),
    Key("planned-outflow", gettext_lazy("Planned out")),
    Key("net", gettext_lazy("Net"), line=True),
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
    links, here = Links(facts), months.index(facts.month)
    described = _("{first} to {last}; up to {day} it is what happened.")
    if nets[here + 1 :]:
        described = _(
            "{first} to {last}; up to {day} it is what happened, and after it what is planned, {net} net after that "
            "month."
        )
    cutover = round((here + facts.today.day / last_of_month(facts.today).day) * 100 / len(months), 3)
    return Section(
        id="cash-flow",
        title=_("Cash flow"),
        lead=_(
            "What came in and went out each month, and what is planned. Transfers between own accounts are left out."
        ),
        described=described.format(
            first=current().month(months[0], full=True),
            last=current().month(months[-1], full=True),
            day=current().long(facts.until),
            net=compact(sum(nets[here + 1 :], start=ZERO), currency),
        ),
        nothing=_("Nothing came in or went out in these months, and nothing is planned."),
        keys=FLOW_KEYS,
        picture=month_picture(
            drawn,
            months=months,
            currency=currency,
            today=facts.today,
            path=charts.points(nets, drawn),
            cutover=cutover if facts.period.last > facts.today else None,
        ),
        table=Table(
            first=_("Month"),
            columns=[Column(key.label, series=key.series) for key in FLOW_KEYS],
            rows=month_rows(
                months,
                ((*row.values(), after) for row, after in zip(rows, nets, strict=True)),
                [flow_links(facts, links, month) for month in months],
            ),
            currency=currency,
        ),
    )


def flow_links(facts: Facts, links: Links, month: date) -> Sequence[str]:
    """Where the cells of a month lead: what came in, what went out, and what is planned, for both sides and the net."""
    first, last = max(month, facts.period.first), min(last_of_month(month), facts.period.last)
    ahead = links.ahead(first, last)
    return links.flow("in", first, last), links.flow("out", first, last), ahead, ahead, ""


def compared_section(facts: Facts) -> Section:
    """Cash, and what came in and went out, beside the days that the period is compared with."""
    now, then = (facts.period.first, facts.until), facts.period.compared or (facts.period.first, facts.until)
    (inflow, outflow), (before_in, before_out) = facts.flow_of(*now), facts.flow_of(*then)
    return against(
        facts,
        id="cash-compared",
        title=_("Cash and cash flow compared"),
        rows=[
            (_("Money in"), inflow, before_in),
            (_("Money out"), outflow, before_out),
            (_("Net"), inflow - outflow, before_in - before_out),
            (_("Cash at the end"), facts.levels[-1].cash, facts.cash_before),
        ],
        days=now,
        before_days=then,
    )


def net(row: dict[str, Decimal]) -> Decimal:
    """All that comes in less all that goes out, planned or not."""
    return row["inflow"] + row["planned-inflow"] - row["outflow"] - row["planned-outflow"]


def stack_of(row: dict[str, Decimal]) -> Sequence[tuple[str, Decimal]]:
    return [(series, -value if series.endswith("outflow") else value) for series, value in row.items()]
