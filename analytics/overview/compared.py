"""Figures of a period beside those of the days that it is compared with."""

from collections.abc import Sequence
from datetime import date
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
    days: tuple[date, date],
    before_days: tuple[date, date],
    note: str = "",
) -> Section:
    """``rows`` are (what, now, then), of the days from the first to the last."""
    comparison, (first, last) = facts.period.comparison, before_days
    day = current().day_of
    figure, period, change = _("Figure, This period, Change").split(
        ", "
    )  # one text, for alone “change” may be asked for
    before = COMPARISONS[comparison] if comparison else _("Before")
    lead = _("{first} to {last} compared with {before_first} to {before_last}.").format(
        first=day(days[0]), last=day(days[1]), before_first=day(first), before_last=day(last)
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
