"""Figures of a period beside those of the days that it is compared with."""

from collections.abc import Sequence
from decimal import Decimal

from django.utils.translation import gettext as _

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
    figure, period, change = _("Figure, This period, Change").split(
        ", "
    )  # one text, for alone “change” may be asked for
    before = COMPARISONS[comparison] if comparison else _("Before")
    lead = _("{first} to {last} compared with {before_first} to {before_last}.").format(
        first=day(facts.period.first), last=day(facts.until), before_first=day(first), before_last=day(last)
    )
    return Section(
        id=id,
        title=title,
        lead=f"{lead} {note}" if note else lead,
        table=Table(
            first=figure,
            columns=[Column(period), Column(before), Column(change, Kind.CHANGE)],
            rows=[Row(name, name, (now, then, now - then)) for name, now, then in rows],
            currency=facts.currency,
        ),
        unfolded=True,
    )
