"""Figures of a period beside those of the days that it is compared with."""

from collections.abc import Sequence
from decimal import Decimal

from analytics.overview.facts import Facts
from analytics.overview.shape import Section
from analytics.overview.tables import Column, Kind, Row, Table
from analytics.period import COMPARISONS
from companies.locales import current


def against(
    facts: Facts,
    *,
    id: str,  # noqa: A002
    title: str,
    rows: Sequence[tuple[str, Decimal, Decimal]],
    note: str = "",
) -> Section:
    """``rows`` are (what, now, then)."""
    comparison = facts.period.comparison
    first, last = facts.period.compared or (facts.period.first, facts.until)
    day = current().day_of
    before = COMPARISONS[comparison] if comparison else "Before"
    return Section(
        id=id,
        title=title,
        lead=f"{day(facts.period.first)} to {day(facts.until)} compared with {day(first)} to {day(last)}.{note}",
        table=Table(
            first="Figure",
            columns=[Column("This period"), Column(before), Column("Change", Kind.CHANGE)],
            rows=[Row(name, name, (now, then, now - then)) for name, now, then in rows],
            currency=facts.currency,
        ),
        unfolded=True,
    )
