"""Committed recurring revenue: where it stands at each month's end, and what moved it, by month and in all."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Protocol

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from analytics.calc import charts
from analytics.calc.mrr import MonthlyRow
from analytics.overview.amounts import compact
from analytics.overview.shape import Key, Section, month_picture, named_picture, smallest
from analytics.overview.tables import Column, Kind, Row, Table, month_rows
from companies.locales import current
from companies.pages.amounts import number

ZERO = Decimal(0)
KEYS = (
    Key("new", gettext_lazy("New")),
    Key("reactivate", gettext_lazy("Reactivation")),
    Key("upgrade", gettext_lazy("Expansion")),
    Key("downgrade", gettext_lazy("Contraction")),
    Key("cancel", gettext_lazy("Churn")),
    Key("currency", gettext_lazy("Rates and rounding")),
)
ENDS = gettext_lazy("Start, End")  # in one text, for alone they could mean anything
SHORT = gettext_lazy("Start, New, Back, Up, Down, Lost, FX, End")
LEVEL = "mrr"  # the series
CUSTOMERS = Column(gettext_lazy("Customers"), Kind.COUNT)
NOTHING = gettext_lazy(
    "No customer paid regularly in these months. Subscriptions are made under Recurring revenue, or imported."
)
NO_MOVEMENT = gettext_lazy("Nothing has moved, for there was no recurring revenue.")


@dataclass(frozen=True, slots=True)
class Measured:
    """What is shown of recurring revenue: its short name, its name, and what it is."""

    short: str | Promise
    name: str | Promise
    lead: str | Promise


COMMITTED = Measured(
    gettext_lazy("Committed MRR"),
    gettext_lazy("Committed MRR"),
    gettext_lazy("Monthly recurring revenue at the end of each month, from the day it was agreed."),
)


class Moved(Protocol):
    """What the sections are drawn from."""

    @property
    def currency(self) -> str: ...

    @property
    def today(self) -> date: ...

    @property
    def calendar(self) -> list[date]: ...

    @property
    def recurring(self) -> Sequence[MonthlyRow]: ...


class Bridged(Moved, Protocol):
    @property
    def bridge(self) -> MonthlyRow: ...


def level_section(facts: Moved, measured: Measured = COMMITTED) -> Section:
    """Where recurring revenue stood at the end of each month."""
    currency, rows = facts.currency, facts.recurring
    drawn = charts.columns([[[(LEVEL, row.end)]] for row in rows], smallest=smallest(currency))
    months = [row.month for row in rows]
    return Section(
        id="mrr",
        title=str(measured.name),
        lead=str(measured.lead),
        described=_("From {start} in {first} to {end} in {last}, with {count} customers.").format(
            start=compact(rows[0].end, currency),
            first=current().month(rows[0].month, full=True),
            end=compact(rows[-1].end, currency),
            last=current().month(rows[-1].month, full=True),
            count=number(rows[-1].end_count),
        ),
        nothing=str(NOTHING),
        picture=month_picture(drawn, months=months, currency=currency, today=facts.today),
        table=Table(
            first=_("Month"),
            columns=[Column(measured.name), CUSTOMERS],
            rows=month_rows(months, ((row.end, row.end_count) for row in rows)),
            currency=currency,
        ),
        span=3,
    )


def bridge_section(facts: Bridged, measured: Measured = COMMITTED) -> Section:
    """From where recurring revenue stood to where it stands: each customer once, by where they were at both ends."""
    currency, row, first = facts.currency, facts.bridge, facts.calendar[0]
    moved = [(key.series, getattr(row, key.series)) for key in KEYS]
    counts = [getattr(row, f"{key.series}_count") for key in KEYS]
    drawn = charts.waterfall((LEVEL, row.start), moved, LEVEL, smallest=smallest(currency))
    start, end = ENDS.split(", ")
    names = (start, *(str(key.label) for key in KEYS), end)
    amounts = (row.start, *(amount for _, amount in moved), row.end)
    customers = (row.start_count, *counts, row.end_count)
    return Section(
        id="mrr-bridge",
        title=_("{measure} from start to end").format(measure=measured.short),
        lead=_("What led from the start of {first} to {last}; each customer counts once.").format(
            first=current().month(first, full=True), last=current().month(row.month, full=True)
        ),
        described=_(
            "Start {start}, new {new}, reactivation {reactivate}, expansion {upgrade}, contraction {downgrade}, churn "
            "{cancel}, exchange rates {currency}, end {end}."
        ).format(
            start=compact(row.start, currency),
            end=compact(row.end, currency),
            **{series: compact(amount, currency) for series, amount in moved},
        ),
        nothing=str(NO_MOVEMENT),
        picture=named_picture(
            drawn.columns,
            names=list(zip(names, SHORT.split(", "), strict=True)),
            currency=currency,
            paths=[("levels", drawn.levels)],
        ),
        table=Table(
            first=_("Step"),
            columns=[Column(measured.name), CUSTOMERS],
            rows=[
                Row(name, name, (amount, count), sum=name in {start, end})
                for name, amount, count in zip(names, amounts, customers, strict=True)
            ],
            currency=currency,
        ),
        span=3,
    )


def movement_section(facts: Moved, measured: Measured = COMMITTED) -> Section:
    """What customers added and took away, month by month."""
    currency, rows = facts.currency, facts.recurring
    drawn = charts.columns(
        [[[(key.series, getattr(row, key.series)) for key in KEYS]] for row in rows], smallest=smallest(currency)
    )
    months = [row.month for row in rows]
    start, end = ENDS.split(", ")
    return Section(
        id="mrr-movements",
        title=_("{measure} movements").format(measure=measured.short),
        lead=_("What moved it each month."),
        described=_("{first} to {last}: {amount} net over the period.").format(
            first=current().month(rows[0].month, full=True),
            last=current().month(rows[-1].month, full=True),
            amount=compact(rows[-1].end - rows[0].start, currency),
        ),
        nothing=str(NO_MOVEMENT),
        keys=KEYS,
        picture=month_picture(drawn, months=months, currency=currency, today=facts.today),
        table=Table(
            first=_("Month"),
            columns=[Column(start), *(Column(key.label) for key in KEYS), Column(end), CUSTOMERS],
            rows=month_rows(
                months,
                ((row.start, *(getattr(row, key.series) for key in KEYS), row.end, row.end_count) for row in rows),
            ),
            currency=currency,
        ),
    )
