"""Sections of a report: a chart, its legend, and the table behind it."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from math import ceil

from django.utils.functional import Promise
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from analytics.calc.chart_layout import PLOT_HEIGHT_PX, ColumnChart, LineChart, Tick
from analytics.charts import svg
from analytics.charts.amount_format import format_axis_amount
from analytics.charts.chart_tables import ChartTable, is_running_month
from analytics.charts.svg import AxisLabel, PointMark
from companies.locales import get_current_locale
from ledger.money.calc.money import get_smallest_unit

MAX_MONTHS_WITH_DENSE_LABELS = 18  # on narrow screens every third of so many is labelled, of more every sixth
DENSE_LABEL_STEP, SPARSE_LABEL_STEP = 3, 6
MAX_DAYS_LABELLED, MAX_DAY_LABELS = 62, 8  # periods up to this long are labelled by day, with at most so many labels
MAX_SHORT_NAME_LENGTH = 20  # characters; beyond, the names of six columns touch on a tablet
MAX_NAMES_IN_ONE_LINE = 6  # of more, every other short name is lowered
LABEL_AREA_HEIGHT_PX = 44  # pixels below the plot, for the names of months


@dataclass(frozen=True, slots=True)
class LegendKey:
    """An entry of the legend; `line` is whether its series is drawn as a line."""

    series: str
    label: str | Promise
    line: bool = False


@dataclass(frozen=True, slots=True)
class SectionChart:
    """A chart, in percent of its width and pixels of height.

    `paths` are (classes, path) in a thousand units across. `places` is the number of strips, each for a row of
    the table; `edges` is whether the first and last strip are at the edges, as days are.
    """

    ticks: list[tuple[float, str]]
    zero: float
    labels: list[AxisLabel]
    places: int
    edges: bool = False
    bars: SafeString | None = None
    paths: Sequence[tuple[str, str]] = ()
    ends: Sequence[tuple[str, float, float]] = ()  # (series, x, y) of the dots at line ends
    marks: Sequence[PointMark] = ()
    now: tuple[float, float] | None = None  # (x, width) of the current month's strip
    cutover: float | None = None  # x where actual ends and planned begins
    height: int = PLOT_HEIGHT_PX

    @property
    def total_height(self) -> int:
        return self.height + LABEL_AREA_HEIGHT_PX

    @property
    def has_crowded_labels(self) -> bool:
        """Whether the labels need the width of a whole page."""
        return len(self.labels) > MAX_MONTHS_WITH_DENSE_LABELS or any(
            len(label.text) > MAX_SHORT_NAME_LENGTH for label in self.labels
        )

    @property
    def axis(self) -> SafeString:
        return svg.draw_axis(self.ticks)

    @property
    def grid(self) -> SafeString:
        return svg.draw_grid(self.ticks)

    @property
    def point_marks(self) -> SafeString:
        return svg.draw_marks(self.marks, height=self.height)

    @property
    def names(self) -> SafeString:
        return svg.draw_labels(self.labels, height=self.height)


@dataclass(frozen=True, slots=True)
class Section:
    """A chart with its heading. `span` is its share of the width in sixths.

    `note` says why there is no chart. `nothing` is shown if all numbers are zero, with the link `start` (URL,
    label). `action` is a link after the lead.
    """

    id: str
    title: str
    lead: str = ""
    described: str = ""
    keys: Sequence[LegendKey] = ()
    picture: SectionChart | None = None
    table: ChartTable | None = None
    unfolded: bool = False  # the table is expanded initially
    span: int = 6
    note: str = ""
    nothing: str = ""
    start: tuple[str, str] | None = None
    action: tuple[str, str] | None = None
    file: bool = True  # whether its table can be downloaded

    @property
    def is_empty(self) -> bool:
        return bool(self.nothing and self.table and self.table.is_empty)


def format_ticks(ticks: Sequence[Tick], currency: str) -> list[tuple[float, str]]:
    return [(tick.y, format_axis_amount(tick.value, currency)) for tick in ticks]


def build_labels(
    positions: Sequence[tuple[float, date]],
    *,
    named_index: int,
    now: bool = False,
    note: str = "",
    short_note: str = "",
) -> list[AxisLabel]:
    """Build labels of months at their positions; the one at `named_index` is always shown, with the note or, on narrow
    screens, the short note.
    """
    label_step = DENSE_LABEL_STEP if len(positions) <= MAX_MONTHS_WITH_DENSE_LABELS else SPARSE_LABEL_STEP
    axis_labels: list[AxisLabel] = []
    years, years_of_major = set(), set()
    format_month_name = get_current_locale().format_month

    def year_after(index: int) -> int:
        """The next name's year: two years beside each other would touch, and the new one says more."""
        return positions[min(index + 1, len(positions) - 1)][1].year

    for index, (x, month) in enumerate(positions):
        minor = bool((index - named_index) % label_step)
        axis_labels.append(
            AxisLabel(
                x=round(x, 3),
                text=format_month_name(month, year=False),
                year=f"{month:%Y}",
                first=month.year not in years and month.year == year_after(index),
                minor=minor,
                first_major=not minor and month.year not in years_of_major,
                now=now and index == named_index,
                note=note if index == named_index else "",
                short_note=short_note if index == named_index else "",
            )
        )
        years.add(month.year)
        if not minor:
            years_of_major.add(month.year)
    return axis_labels


def build_month_labels(months: Sequence[date], *, today: date) -> list[AxisLabel]:
    """Build a label in the middle of each column."""
    column_width, month = 100 / len(months), today.replace(day=1)
    current_index = months.index(month) if month in months else len(months) - 1
    is_running = is_running_month(months[current_index], today)
    return build_labels(
        [((index + 0.5) * column_width, each) for index, each in enumerate(months)],
        named_index=current_index,
        now=True,
        note=_("incomplete") if is_running else "",
        short_note=_("partial") if is_running else "",
    )


def build_day_labels(days: Sequence[date]) -> list[AxisLabel]:
    """Build labels of days at even distances, the last day always; on narrow screens without the year."""
    step, last = ceil(len(days) / MAX_DAY_LABELS), len(days) - 1
    locale = get_current_locale()
    return [
        AxisLabel(
            x=round(index * 100 / max(last, 1), 3),
            text=locale.format_short_day(days[index]),
            short=locale.format_day_without_year(days[index]),
            minor=bool((last - index) // step % 2),
        )
        for index in range(last % step, len(days), step)
    ]


def build_month_chart(
    columns: ColumnChart,
    *,
    months: Sequence[date],
    currency: str,
    today: date,
    path: str = "",
    cutover: float | None = None,
) -> SectionChart:
    """Build a chart of columns by month, with the current month marked."""
    current_columns = [
        column for column, month in zip(columns.columns, months, strict=True) if month == today.replace(day=1)
    ]
    return SectionChart(
        ticks=format_ticks(columns.ticks, currency),
        zero=columns.zero,
        labels=build_month_labels(months, today=today),
        places=len(months),
        bars=svg.draw_bars(columns),
        paths=[("net-under", path), ("net", path)] if path else (),
        now=(current_columns[0].x, current_columns[0].width) if current_columns else None,
        cutover=cutover,
    )


def build_named_chart(
    columns: ColumnChart, *, names: Sequence[tuple[str, str]], currency: str, paths: Sequence[tuple[str, str]] = ()
) -> SectionChart:
    """Build a chart of columns labelled with (name, short name)."""
    return SectionChart(
        ticks=format_ticks(columns.ticks, currency),
        zero=columns.zero,
        labels=[
            AxisLabel(
                x=column.middle, text=name, short=short, lowered=len(names) > MAX_NAMES_IN_ONE_LINE and index % 2 == 1
            )
            for index, (column, (name, short)) in enumerate(zip(columns.columns, names, strict=True))
        ],
        places=len(names),
        bars=svg.draw_bars(columns),
        paths=paths,
    )


def build_day_chart(
    lines: LineChart,
    *,
    series: Sequence[str],
    days: Sequence[date],
    currency: str,
    height: int,
    marks: Sequence[PointMark] = (),
    cutover: float | None = None,
) -> SectionChart:
    """Build a chart of lines over days, labelled at the first point of each month, or by days in a short period; the
    first line has an area.
    """
    day_width = 100 / max(len(days) - 1, 1)
    firsts = [
        (index * day_width, day)
        for index, day in enumerate(days)
        if day.day == 1 or (index and day.month != days[index - 1].month)
    ]
    is_short = (days[-1] - days[0]).days < MAX_DAYS_LABELLED
    line_paths = [
        (f"chart-line l-{name}", line.path) for name, line in zip(series, lines.lines, strict=True) if line.path
    ]
    area = (f"area a-{series[0]}", lines.lines[0].area)
    return SectionChart(
        ticks=format_ticks(lines.ticks, currency),
        zero=lines.zero,
        labels=build_day_labels(days) if is_short else build_labels(firsts, named_index=len(firsts) - 1),
        places=len(days),
        edges=True,
        paths=[area, *reversed(line_paths)],
        ends=[(name, line.last_x, line.last_y) for name, line in zip(series, lines.lines, strict=True) if line.path],
        marks=marks,
        cutover=cutover,
        height=height,
    )


def get_smallest_step(currency: str) -> Decimal:
    """Return the smallest step of an axis: the currency's own unit."""
    return get_smallest_unit(currency)
