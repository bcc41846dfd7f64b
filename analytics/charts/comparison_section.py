"""The section that compares figures of two periods."""

from collections.abc import Sequence
from datetime import date
from decimal import Decimal

from django.utils.translation import gettext as _

from analytics.charts.chart_data import ChartData
from analytics.charts.chart_tables import ChartTable, ColumnKind, TableColumn, TableRow
from analytics.charts.sections import Section
from analytics.report_period import COMPARISON_LABELS
from companies.locales import get_current_locale


def build_comparison_section(
    data: ChartData,
    *,
    id: str,  # noqa: A002
    title: str,
    rows: Sequence[tuple[str, Decimal, Decimal]],
    days: tuple[date, date],
    before_days: tuple[date, date],
    note: str = "",
    action: tuple[str, str] | None = None,
) -> Section:
    """Build a table of figures beside those of the compared period.

    Args:
        rows: (label, value, compared value).
        days: first and last day of the period; `before_days` those of the compared one.
        note: a sentence after the days; `action` is a link (URL, label) behind it.
    """
    comparison, (first, last) = data.period.comparison, before_days
    day = get_current_locale().format_day
    figure, period, change = _("Figure, This period, Change").split(
        ", "
    )  # one text, since "change" alone could be translated as a verb
    compared_label = COMPARISON_LABELS[comparison] if comparison else _("Comparison")
    intro = _("{first} to {last}, compared with {before_first} to {before_last}.").format(
        first=day(days[0]), last=day(days[1]), before_first=day(first), before_last=day(last)
    )
    return Section(
        id=id,
        title=title,
        intro=f"{intro} {note}" if note else intro,
        action=action,
        table=ChartTable(
            first=figure,
            columns=[TableColumn(period), TableColumn(compared_label), TableColumn(change, ColumnKind.CHANGE)],
            rows=[TableRow(name, name, (now, then, now - then)) for name, now, then in rows],
            currency=data.currency,
        ),
        unfolded=True,
    )
