"""Committed recurring revenue: where it stands at each month's end, and what moved it, by month and in all."""

from decimal import Decimal

from analytics.calc import charts
from analytics.overview.amounts import compact
from analytics.overview.facts import Facts
from analytics.overview.shape import Key, Section, month_picture, named_picture, smallest
from analytics.overview.tables import Column, Kind, Row, Table, month_rows

ZERO = Decimal(0)
KEYS = (
    Key("new", "New"),
    Key("reactivate", "Reactivated"),
    Key("upgrade", "Upgraded"),
    Key("downgrade", "Downgraded"),
    Key("cancel", "Cancelled"),
    Key("currency", "Exchange rates"),
)
SHORT = ("New", "Back", "Up", "Down", "Lost", "FX")
LEVEL = Key("mrr", "Committed MRR")
CUSTOMERS = Column("Customers", Kind.COUNT)
NOTHING = "No customer paid regularly in these months. Subscriptions are made and imported through the API."
NO_MOVEMENT = "Nothing has moved, for there was no recurring revenue."


def level_section(facts: Facts) -> Section:
    """Where committed recurring revenue stood at the end of each month."""
    currency, rows = facts.currency, facts.recurring
    drawn = charts.columns([[[(LEVEL.series, row.end)]] for row in rows], smallest=smallest(currency))
    months = [row.month for row in rows]
    return Section(
        id="mrr",
        title="Committed MRR",
        lead="Monthly recurring revenue at the end of each month, from the day it was agreed.",
        described=(
            f"From {compact(rows[0].end, currency)} in {rows[0].month:%B %Y} to {compact(rows[-1].end, currency)} in "
            f"{rows[-1].month:%B %Y}, with {rows[-1].end_count:,} customers."
        ),
        nothing=NOTHING,
        picture=month_picture(drawn, months=months, currency=currency, today=facts.today),
        table=Table(
            first="Month",
            columns=[Column(LEVEL.label), CUSTOMERS],
            rows=month_rows(months, ((row.end, row.end_count) for row in rows)),
            currency=currency,
        ),
        span=3,
    )


def bridge_section(facts: Facts) -> Section:
    """From where recurring revenue stood to where it stands: the months' movements together, closing exactly."""
    currency, rows = facts.currency, facts.recurring
    first, last = rows[0], rows[-1]
    moved = [(key.series, sum((getattr(row, key.series) for row in rows), start=ZERO)) for key in KEYS]
    counts = [sum(getattr(row, f"{key.series}_count") for row in rows) for key in KEYS]
    drawn = charts.waterfall((LEVEL.series, first.start), moved, LEVEL.series, smallest=smallest(currency))
    names = ("Start", *(key.label for key in KEYS), "End")
    amounts = (first.start, *(amount for _, amount in moved), last.end)
    customers = (first.start_count, *counts, last.end_count)
    return Section(
        id="mrr-bridge",
        title="MRR from start to end",
        lead=f"What led from the start of {first.month:%B %Y} to {last.month:%B %Y}.",
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
            columns=[Column(LEVEL.label), CUSTOMERS],
            rows=[
                Row(name, name, (amount, count), sum=name in {"Start", "End"})
                for name, amount, count in zip(names, amounts, customers, strict=True)
            ],
            currency=currency,
        ),
        span=3,
    )


def movement_section(facts: Facts) -> Section:
    """What customers added and took away, month by month."""
    currency, rows = facts.currency, facts.recurring
    drawn = charts.columns(
        [[[(key.series, getattr(row, key.series)) for key in KEYS]] for row in rows], smallest=smallest(currency)
    )
    months = [row.month for row in rows]
    return Section(
        id="mrr-movements",
        title="MRR movements",
        lead="What moved committed recurring revenue each month.",
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
