"""Chart sections of cash: balances by day, account balances, and monthly cash flow with its plan."""

from collections.abc import Iterable, Sequence
from datetime import date
from decimal import Decimal

from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from analytics.calc import chart_layout
from analytics.charts.amount_format import format_brief_amount, format_compact_amount
from analytics.charts.chart_data import ChartData
from analytics.charts.chart_tables import (
    Cell,
    ChartTable,
    ColumnKind,
    TableColumn,
    TableRow,
    build_day_rows,
    build_month_rows,
)
from analytics.charts.comparison_section import build_comparison_section
from analytics.charts.links import FigureLinks
from analytics.charts.lowest_balance import (
    build_lowest_balance_marks,
    build_plan_payments_link,
    describe_lowest_balance,
)
from analytics.charts.sections import LegendKey, Section, build_day_chart, build_month_chart, get_smallest_step
from analytics.queries.balance_forecast import list_bucket_end_values
from analytics.queries.balances import AccountBalance
from analytics.report_period import ONE_DAY, ReportPeriod
from companies.locales import get_current_locale
from ledger.calc.months import format_month, get_last_day_of_month

ZERO = Decimal(0)
BALANCE_HEIGHT = 332  # about the height of the account table beside it
BALANCE_KEYS = (
    LegendKey("cash", gettext_lazy("Cash"), line=True),
    LegendKey("projected", gettext_lazy("Projected cash"), line=True),
    LegendKey("nonCash", gettext_lazy("Other accounts"), line=True),
)
LEAD_BY_INTERVAL = {
    "day": gettext_lazy("Balance at the end of each day; {opening}."),
    "month": gettext_lazy("Balance at the end of each month; {opening}."),
}
Balances = tuple[Decimal | None, Decimal | None, Decimal | None]
"""(cash, projected cash, other accounts)"""


def build_balance_section(data: ChartData) -> Section:
    """Build the chart of cash and other balances at the end of each day, with projected cash up to the last day."""
    currency, forecast = data.currency, data.balance_forecast
    balances = merge_balances(data)
    days = [*balances]
    cash, projected, non_cash = (list(column) for column in zip(*balances.values(), strict=True))
    last_known_place = find_last_known_index(cash)
    lines_start = data.first_balance_days
    cash = mask_before_first_day(lines_start[True], cash, days) if lines_start[True] else cash
    non_cash = mask_before_first_day(lines_start[False], non_cash, days)
    chart = chart_layout.build_line_chart(
        [cash, join_projection(projected, cash, last_known_place), non_cash],
        smallest=get_smallest_step(currency),
        height=BALANCE_HEIGHT,
    )
    urls = [data.links.get_balance_url(*window) for window in list_bucket_windows(data.period, days)]
    is_daily = data.interval == "day"
    build_rows = build_day_rows if is_daily else build_balance_rows
    return Section(
        id="cash-balance",
        title=_("Cash balance"),
        intro=f"{LEAD_BY_INTERVAL[data.interval].format(opening=describe_opening_balance(data))} "
        f"{describe_outlook(data)}",
        description=describe_balance_chart(data),
        keys=BALANCE_KEYS if forecast.projected else (BALANCE_KEYS[0], BALANCE_KEYS[2]),
        picture=build_day_chart(
            chart,
            series=[key.series for key in BALANCE_KEYS],
            days=days,
            currency=currency,
            height=BALANCE_HEIGHT,
            point_marks=build_lowest_balance_marks(forecast, days, chart, currency),
            cutover=round(last_known_place * 100 / max(len(days) - 1, 1), 3) if forecast.projected else None,
        ),
        empty_text=_("No balances in this period. Import a bank statement or add a transaction."),
        action=build_plan_payments_link(data.company, forecast, can_write=data.can_write_plan),
        table=ChartTable(
            first=_("Day") if is_daily else _("Month"),
            columns=[TableColumn(key.label) for key in BALANCE_KEYS],
            rows=build_rows(days, balances.values(), urls),
            currency=currency,
            newest_first=True,
        ),
        span=4,
    )


def mask_before_first_day(
    first: date | None, values: Sequence[Decimal | None], points: Sequence[date]
) -> list[Decimal | None]:
    """Return the values from the bucket of a first day on; None before it, and everywhere without a first day.

    >>> days = [date(2026, 1, 1), date(2026, 2, 1), date(2026, 3, 1)]
    >>> mask_before_first_day(date(2026, 2, 20), [Decimal(0), Decimal(5), Decimal(7)], days)
    [None, Decimal('5'), Decimal('7')]
    """
    bucket_ends = [*(following - ONE_DAY for following in points[1:]), None]
    return [
        value if first and (last is None or last >= first) else None
        for value, last in zip(values, bucket_ends, strict=True)
    ]


def find_last_known_index(values: Sequence[Decimal | None]) -> int:
    """Return the index of the last value that is known."""
    return max(index for index, value in enumerate(values) if value is not None)


def join_projection(
    projected: Sequence[Decimal | None], actual: Sequence[Decimal | None], last_known_place: int
) -> list[Decimal | None]:
    """Return the projected line starting where the actual one ends."""
    has_projection = any(value is not None for value in projected)
    return [
        actual[last_known_place] if has_projection and index == last_known_place and value is None else value
        for index, value in enumerate(projected)
    ]


def merge_balances(data: ChartData) -> dict[date, Balances]:
    """Return the first day of each bucket -> the balances at its end."""
    forecast, interval = data.balance_forecast, data.interval
    non_cash_by_day = {point.day: point.non_cash for point in data.points}
    known_values = list_bucket_end_values(non_cash_by_day, start=data.start, end=data.until, interval=interval)
    balances: dict[date, Balances] = {
        day: (cash, None, non_cash) for (day, cash), (_, non_cash) in zip(forecast.actual, known_values, strict=True)
    }
    for day, value in forecast.projected:
        cash, _, non_cash = balances.get(day, (None, None, None))
        balances[day] = (cash, value, non_cash)
    return balances


def list_bucket_windows(period: ReportPeriod, points: Sequence[date]) -> list[tuple[date, date]]:
    """Return the first and last day of each bucket."""
    bucket_ends = [*(following - ONE_DAY for following in points[1:]), period.last]
    return [(max(first, period.first), last) for first, last in zip(points, bucket_ends, strict=True)]


def build_balance_rows(days: Iterable[date], cells: Iterable[Sequence[Cell]], links: Iterable[str]) -> list[TableRow]:
    format_month_name = get_current_locale().format_month
    return [
        TableRow(format_month(day), format_month_name(day), values, link=link)
        for day, values, link in zip(days, cells, links, strict=True)
    ]


def describe_outlook(data: ChartData) -> str:
    """Describe when cash is lowest, and when it runs out."""
    sentence = describe_lowest_balance(data.balance_forecast, data.period, data.currency)
    return sentence or _("Other accounts: credit cards, loans and transit accounts.")


def describe_balance_chart(data: ChartData) -> str:
    """Describe the balance chart for screen readers."""
    currency, (opening, *points), long = data.currency, data.points_with_opening, get_current_locale().format_long_day
    if (first := data.first_balance_days[True]) and first > data.start:
        points = [point for point in points if point.day >= first]
        opening = points[0]
        text = _("From {start} on {first} to {end} on {last}. Lowest: {lowest} on {day}.")
    else:
        first = data.start
        text = _("From {start} before {first} to {end} on {last}. Lowest: {lowest} on {day}.")
    lowest = min(points, key=lambda point: point.cash)
    text = text.format(
        start=format_compact_amount(opening.cash, currency),
        first=long(first),
        end=format_compact_amount(points[-1].cash, currency),
        last=long(points[-1].day),
        lowest=format_compact_amount(lowest.cash, currency),
        day=long(lowest.day),
    )
    return f"{text} {describe_outlook(data)}"


def describe_opening_balance(data: ChartData) -> str:
    """Describe the cash at the start of the period, or at the first booking in it."""
    first = data.first_balance_days[True]
    if first and first > data.start:
        opening = next(point.cash for point in data.points if point.day == first)
        return _("first balance {amount} on {day}").format(
            amount=format_brief_amount(opening, data.currency), day=get_current_locale().format_day(first)
        )
    opening = data.points_with_opening[0].cash
    return _("opening balance {amount} on {day}").format(
        amount=format_brief_amount(opening, data.currency), day=get_current_locale().format_day(data.start)
    )


def build_account_section(data: ChartData) -> Section:
    """Build the table of each account's balance and its change, with the sum of cash accounts if there are others."""
    accounts = data.accounts
    cash_accounts = [each for each in accounts if each.account_id in data.cash_ids]
    intro = _("Today, with the change since {start}.")
    if data.until != data.today:
        intro = _("On {day}, with the change since {start}.")
    account, balance, change = _("Account, Balance, Change").split(", ")
    return Section(
        id="accounts",
        title=_("Accounts"),
        intro=" ".join(
            filter(
                None,
                (
                    intro.format(
                        day=get_current_locale().format_day(data.until),
                        start=get_current_locale().format_day(data.start),
                    ),
                    describe_conversion(data),
                ),
            )
        ),
        empty_text="" if accounts else _("No accounts yet."),
        table=ChartTable(
            first=account,
            columns=[TableColumn(balance), TableColumn(change, ColumnKind.CHANGE)],
            rows=[
                *(build_account_row(data, each) for each in accounts),
                *([build_sum_row(_("Cash accounts"), cash_accounts)] if len(cash_accounts) != len(accounts) else []),
                build_sum_row(_("All accounts"), accounts),
            ],
            currency=data.currency,
        ),
        unfolded=True,
        span=2,
    )


def describe_conversion(data: ChartData) -> str:
    """Say how balances in other currencies are converted; empty without any."""
    currencies = {
        currency for amounts in data.balances_at_end.values() for currency, amount in amounts.items() if amount
    }
    if currencies <= {data.currency}:
        return ""
    return _(
        "Balances are converted at the rate of this day, transactions at the rate of theirs: their sums can differ."
    )


def build_sum_row(name: str, accounts: Sequence[AccountBalance]) -> TableRow:
    change = sum((each.change for each in accounts), start=ZERO)
    return TableRow(name, name, (sum((each.value for each in accounts), start=ZERO), change), sum=True)


def build_account_row(data: ChartData, account: AccountBalance) -> TableRow:
    link = reverse("account", args=[data.company.id, account.account_id]) if data.can_open_accounts else ""
    return TableRow(account.account_name, account.account_name, (account.value, account.change), link=link)


FLOW_KEYS = (
    LegendKey("inflow", gettext_lazy("Money in")),
    LegendKey("outflow", gettext_lazy("Money out")),
    LegendKey("planned-inflow", gettext_lazy("Planned in")),
    LegendKey("planned-outflow", gettext_lazy("Planned out")),
    LegendKey("net", gettext_lazy("Net"), line=True),
)


def build_flow_section(data: ChartData) -> Section:
    """Build the chart of monthly money in and out; planned amounts are hatched."""
    currency, flows = data.currency, data.flows
    months = flows.actual.points
    rows = [
        dict(zip(("inflow", "outflow", "planned-inflow", "planned-outflow"), values, strict=True))
        for values in zip(
            flows.actual.inflow, flows.actual.outflow, flows.planned.inflow, flows.planned.outflow, strict=True
        )
    ]
    nets = [compute_net(row) for row in rows]
    chart = chart_layout.build_column_chart(
        [[build_flow_stack(row)] for row in rows], smallest=get_smallest_step(currency)
    )
    links, month_place = data.links, months.index(data.month)
    description = _("{first} to {last}: actual until {day}.")
    if nets[month_place + 1 :]:
        description = _("{first} to {last}: actual until {day}, then planned. Planned net after that month: {net}.")
    cutover = round((month_place + data.today.day / get_last_day_of_month(data.today).day) * 100 / len(months), 3)
    return Section(
        id="cash-flow",
        title=_("Cash flow"),
        intro=_("Actual and planned cash flow by month, without transfers between your accounts."),
        description=description.format(
            first=get_current_locale().format_month(months[0], full=True),
            last=get_current_locale().format_month(months[-1], full=True),
            day=get_current_locale().format_long_day(data.until),
            net=format_compact_amount(sum(nets[month_place + 1 :], start=ZERO), currency),
        ),
        empty_text=_("No cash flow in this period, actual or planned."),
        keys=FLOW_KEYS,
        picture=build_month_chart(
            chart,
            months=months,
            currency=currency,
            today=data.today,
            path=chart_layout.build_points_path(nets, chart),
            cutover=cutover if data.period.last > data.today else None,
        ),
        table=ChartTable(
            first=_("Month"),
            columns=[TableColumn(key.label, series=key.series) for key in FLOW_KEYS],
            rows=build_month_rows(
                months,
                ((*row.values(), after) for row, after in zip(rows, nets, strict=True)),
                [build_flow_links(data, links, month) for month in months],
                today=data.today,
            ),
            currency=currency,
        ),
    )


def build_flow_links(data: ChartData, links: FigureLinks, month: date) -> Sequence[str]:
    """Return the URLs behind a month's cells: money in, money out, planned in, planned out, and none for the net."""
    first, last = max(month, data.period.first), min(get_last_day_of_month(month), data.period.last)
    planned_url = links.get_upcoming_url(first, last)
    return links.get_flow_url("in", first, last), links.get_flow_url("out", first, last), planned_url, planned_url, ""


def build_cash_comparison_section(data: ChartData) -> Section:
    """Build the table of cash and cash flow beside the compared period."""
    window, compared_window = (data.period.first, data.until), data.period.compared or (data.period.first, data.until)
    (inflow, outflow), (before_in, before_out) = data.sum_flows(*window), data.sum_flows(*compared_window)
    return build_comparison_section(
        data,
        id="cash-compared",
        title=_("Cash and cash flow compared"),
        rows=[
            (_("Money in"), inflow, before_in),
            (_("Money out"), outflow, before_out),
            (_("Net"), inflow - outflow, before_in - before_out),
            (_("Closing cash"), data.points_with_opening[-1].cash, data.compared_cash),
        ],
        days=window,
        before_days=compared_window,
        note=_("Net includes card spending, but no transfers, loans, opening balances or exchange rates."),
        action=(f"{data.links.bridge_url}{data.period.query}", _("Cash bridge")),
    )


def compute_net(row: dict[str, Decimal]) -> Decimal:
    """Return money in less money out, planned amounts included."""
    return row["inflow"] + row["planned-inflow"] - row["outflow"] - row["planned-outflow"]


def build_flow_stack(row: dict[str, Decimal]) -> Sequence[tuple[str, Decimal]]:
    return [(series, -value if series.endswith("outflow") else value) for series, value in row.items()]
