"""Chart sections of committed recurring revenue: its level, its bridge, and its monthly movements."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Protocol

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from analytics.calc import chart_layout
from analytics.calc.mrr import MonthlyRow
from analytics.charts.amount_format import format_compact_amount
from analytics.charts.chart_tables import ChartTable, ColumnKind, CountChange, TableColumn, TableRow, build_month_rows
from analytics.charts.links import MovementLinks
from analytics.charts.sections import LegendKey, Section, build_month_chart, build_named_chart, get_smallest_step
from companies.locales import get_current_locale
from companies.models import Company
from companies.pages.amount_formats import format_count

ZERO = Decimal(0)
MOVEMENT_KEYS = (
    LegendKey("new", gettext_lazy("New")),
    LegendKey("reactivate", gettext_lazy("Reactivation")),
    LegendKey("upgrade", gettext_lazy("Expansion")),
    LegendKey("downgrade", gettext_lazy("Contraction")),
    LegendKey("cancel", gettext_lazy("Churn")),
    LegendKey("currency", gettext_lazy("FX and rounding")),
)
FIGURES = ("start", *(key.series for key in MOVEMENT_KEYS), "end")  # of a bridge, in its order
END_LABELS = gettext_lazy("Start, End")  # one text, since the words alone are ambiguous for translators
SHORT_LABELS = gettext_lazy("Start, New, React, Exp, Con, Churn, FX, End")
LEVEL_SERIES = "mrr"  # the series
CUSTOMERS_COLUMN = TableColumn(gettext_lazy("Customers"), ColumnKind.COUNT)
NO_REVENUE = gettext_lazy("No subscriptions in this period. Add them under Recurring revenue, or import them.")
NO_MOVEMENT = gettext_lazy("No movements: there were no subscriptions.")


@dataclass(frozen=True, slots=True)
class RevenueMeasure:
    """What is shown of recurring revenue: its type in the API, short name, name and description."""

    mrr_type: str
    short: str | Promise
    name: str | Promise
    intro: str | Promise


COMMITTED = RevenueMeasure(
    "cmrr",
    gettext_lazy("Committed MRR"),
    gettext_lazy("Committed MRR"),
    gettext_lazy("MRR at the end of each month, counted from the contract date."),
)


class RecurringRevenueSource(Protocol):
    """The data of the sections."""

    @property
    def company(self) -> Company: ...

    @property
    def currency(self) -> str: ...

    @property
    def today(self) -> date: ...

    @property
    def calendar(self) -> list[date]: ...

    @property
    def recurring(self) -> Sequence[MonthlyRow]: ...

    @property
    def movement_links(self) -> MovementLinks: ...


class BridgeSource(RecurringRevenueSource, Protocol):
    @property
    def bridge(self) -> MonthlyRow: ...


def build_level_section(data: RecurringRevenueSource, measure: RevenueMeasure = COMMITTED) -> Section:
    """Build the chart of recurring revenue at the end of each month."""
    currency, rows = data.currency, data.recurring
    chart = chart_layout.build_column_chart(
        [[[(LEVEL_SERIES, row.end)]] for row in rows], smallest=get_smallest_step(currency)
    )
    months = [row.month for row in rows]
    return Section(
        id="mrr",
        title=str(measure.name),
        intro=str(measure.intro),
        description=_("From {start} in {first} to {end} in {last}, with {count} customers.").format(
            start=format_compact_amount(rows[0].end, currency),
            first=get_current_locale().format_month(rows[0].month, full=True),
            end=format_compact_amount(rows[-1].end, currency),
            last=get_current_locale().format_month(rows[-1].month, full=True),
            count=format_count(rows[-1].end_count),
        ),
        empty_text=str(NO_REVENUE),
        picture=build_month_chart(chart, months=months, currency=currency, today=data.today),
        table=ChartTable(
            first=_("Month"),
            columns=[TableColumn(measure.name, series=LEVEL_SERIES), CUSTOMERS_COLUMN],
            rows=build_month_rows(
                months,
                ((row.end, row.end_count) for row in rows),
                [(data.movement_links.get_url(measure.mrr_type, "end", month, month), "") for month in months],
                today=data.today,
            ),
            currency=currency,
        ),
        span=3,
    )


def build_bridge_section(data: BridgeSource, measure: RevenueMeasure = COMMITTED) -> Section:
    """Build the bridge from start to end; each customer counts once, by both ends."""
    currency, row, first = data.currency, data.bridge, data.calendar[0]
    movements = [(key.series, getattr(row, key.series)) for key in MOVEMENT_KEYS]
    counts = [count_moved_customers(row, key.series) for key in MOVEMENT_KEYS]
    chart = chart_layout.build_waterfall_chart(
        (LEVEL_SERIES, row.start), movements, LEVEL_SERIES, smallest=get_smallest_step(currency)
    )
    start, end = END_LABELS.split(", ")
    names = (start, *(str(key.label) for key in MOVEMENT_KEYS), end)
    amounts = (row.start, *(amount for _, amount in movements), row.end)
    customers = (row.start_count, *counts, row.end_count)
    urls = [data.movement_links.get_url(measure.mrr_type, figure, first, row.month) for figure in FIGURES]
    return Section(
        id="mrr-bridge",
        title=_("{measure} bridge").format(measure=measure.short),
        intro=_("Changes from the start of {first} to {last}, each customer counted once.").format(
            first=get_current_locale().format_month(first, full=True),
            last=get_current_locale().format_month(row.month, full=True),
        ),
        description=_(
            "Start {start}, new {new}, reactivation {reactivate}, expansion {upgrade}, contraction {downgrade}, churn "
            "{cancel}, exchange rates {currency}, end {end}."
        ).format(
            start=format_compact_amount(row.start, currency),
            end=format_compact_amount(row.end, currency),
            **{series: format_compact_amount(amount, currency) for series, amount in movements},
        ),
        empty_text=str(NO_MOVEMENT),
        picture=build_named_chart(
            chart.columns,
            names=list(zip(names, SHORT_LABELS.split(", "), strict=True)),
            currency=currency,
            paths=[("levels", chart.levels)],
        ),
        table=ChartTable(
            first=_("Step"),
            columns=[TableColumn(measure.name), CUSTOMERS_COLUMN],
            rows=[
                TableRow(name, name, (amount, count), sum=name in {start, end}, link=url)
                for name, amount, count, url in zip(names, amounts, customers, urls, strict=True)
            ],
            currency=currency,
        ),
        span=3,
    )


def count_moved_customers(row: MonthlyRow, movement: str) -> int:
    """Return how many customers a movement adds (+) or takes away (−), or how many only pay another amount."""
    count: int = getattr(row, f"{movement}_count")
    sign = {"new": 1, "reactivate": 1, "cancel": -1}.get(movement)
    return CountChange(sign * count) if sign else count


def build_movement_section(data: RecurringRevenueSource, measure: RevenueMeasure = COMMITTED) -> Section:
    """Build the chart of what customers added and removed, by month."""
    currency, rows = data.currency, data.recurring
    chart = chart_layout.build_column_chart(
        [[[(key.series, getattr(row, key.series)) for key in MOVEMENT_KEYS]] for row in rows],
        smallest=get_smallest_step(currency),
    )
    months = [row.month for row in rows]
    start, end = END_LABELS.split(", ")
    return Section(
        id="mrr-movements",
        title=_("{measure} movements").format(measure=measure.short),
        intro=_("Movements by month."),
        description=_("{first} to {last}: net {amount}.").format(
            first=get_current_locale().format_month(rows[0].month, full=True),
            last=get_current_locale().format_month(rows[-1].month, full=True),
            amount=format_compact_amount(rows[-1].end - rows[0].start, currency),
        ),
        empty_text=str(NO_MOVEMENT),
        keys=MOVEMENT_KEYS,
        picture=build_month_chart(chart, months=months, currency=currency, today=data.today),
        table=ChartTable(
            first=_("Month"),
            columns=[
                TableColumn(start),
                *(TableColumn(key.label, series=key.series) for key in MOVEMENT_KEYS),
                TableColumn(end),
                CUSTOMERS_COLUMN,
            ],
            rows=build_month_rows(
                months,
                (
                    (row.start, *(getattr(row, key.series) for key in MOVEMENT_KEYS), row.end, row.end_count)
                    for row in rows
                ),
                [
                    (*(data.movement_links.get_url(measure.mrr_type, figure, month, month) for figure in FIGURES), "")
                    for month in months
                ],
                today=data.today,
            ),
            currency=currency,
        ),
    )
