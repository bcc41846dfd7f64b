"""Figures of a period beside those of the days that it is compared with."""

from collections.abc import Sequence
from decimal import Decimal

from analytics.overview.facts import Facts
from analytics.overview.shape import Section
from analytics.overview.tables import Column, Kind, Row, Table
from analytics.period import COMPARISONS


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
    before = COMPARISONS[comparison] if comparison else "Before"
    return Section(
        id=id,
        title=title,
        lead=f"{facts.period.first:%-d %b %Y} to {facts.until:%-d %b %Y} compared with "
        f"{first:%-d %b %Y} to {last:%-d %b %Y}.{note}",
        table=Table(
            first="Figure",
            columns=[Column("This period"), Column(before), Column("Change", Kind.CHANGE)],
            rows=[Row(name, name, (now, then, now - then)) for name, now, then in rows],
            currency=facts.currency,
        ),
        unfolded=True,
    )
