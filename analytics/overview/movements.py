"""Committed recurring revenue: where it stands at each month's end, and what moved it, by month and in all."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Protocol

from analytics.calc import charts
from analytics.calc.mrr import MonthlyRow
from analytics.overview.amounts import compact
from analytics.overview.shape import Key, Section, month_picture, named_picture, smallest
from analytics.overview.tables import Column, Kind, Row, Table, month_rows
from companies.pages.amounts import number

ZERO = Decimal(0)
KEYS = (
    Key("new", "New"),
    Key("reactivate", "Reactivation"),
    Key("upgrade", "Expansion"),
    Key("downgrade", "Contraction"),
    Key("cancel", "Churn"),
    Key("currency", "Exchange rates"),
)
SHORT = ("New", "Back", "Up", "Down", "Lost", "FX")
LEVEL = "mrr"  # the series
CUSTOMERS = Column("Customers", Kind.COUNT)
NOTHING = "No customer paid regularly in these months. Subscriptions are made under Recurring revenue, or imported."
NO_MOVEMENT = "Nothing has moved, for there was no recurring revenue."


@dataclass(frozen=True, slots=True)
class Measured:
    """What is shown of recurring revenue: its short name, its name, and what it is."""

    short: str
    name: str
    lead: str


COMMITTED = Measured(
    "MRR", "Committed MRR", "Monthly recurring revenue at the end of each month, from the day it was agreed."
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
        title=measured.name,
        lead=measured.lead,
        described=(
            f"From {compact(rows[0].end, currency)} in {rows[0].month:%B %Y} to {compact(rows[-1].end, currency)} in "
            f"{rows[-1].month:%B %Y}, with {number(rows[-1].end_count)} customers."
        ),
        nothing=NOTHING,
        picture=month_picture(drawn, months=months, currency=currency, today=facts.today),
        table=Table(
            first="Month",
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
    names = ("Start", *(key.label for key in KEYS), "End")
    amounts = (row.start, *(amount for _, amount in moved), row.end)
    customers = (row.start_count, *counts, row.end_count)
    return Section(
        id="mrr-bridge",
        title=f"{measured.short} from start to end",
        lead=f"What led from the start of {first:%B %Y} to {row.month:%B %Y}; each customer counts once.",
        described=", ".join(
            f"{name} {compact(amount, currency)}" for name, amount in zip(names, amounts, strict=True)
        ).capitalize()
        + ".",
        nothing=NO_MOVEMENT,
        picture=named_picture(
            drawn.columns,
            names=list(zip(names, ("Start", *SHORT, "End"), strict=True)),
            currency=currency,
            paths=[("levels", drawn.levels)],
        ),
        table=Table(
            first="Step",
            columns=[Column(measured.name), CUSTOMERS],
            rows=[
                Row(name, name, (amount, count), sum=name in {"Start", "End"})
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
    return Section(
        id="mrr-movements",
        title=f"{measured.short} movements",
        lead="What moved it each month.",
        described=(
            f"{rows[0].month:%B %Y} to {rows[-1].month:%B %Y}: "
            f"{compact(rows[-1].end - rows[0].start, currency)} net over the period."
        ),
        nothing=NO_MOVEMENT,
        keys=KEYS,
        picture=month_picture(drawn, months=months, currency=currency, today=facts.today),
        table=Table(
            first="Month",
            columns=[Column("Start"), *(Column(key.label) for key in KEYS), Column("End"), CUSTOMERS],
            rows=month_rows(
                months,
                ((row.start, *(getattr(row, key.series) for key in KEYS), row.end, row.end_count) for row in rows),
            ),
            currency=currency,
        ),
    )
