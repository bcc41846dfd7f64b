"""What a section of the page is made of: a chart, how it is read, and the numbers behind it."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal

from django.utils.functional import Promise
from django.utils.safestring import SafeString

from analytics.calc.charts import HEIGHT, Columns, Lines, Tick
from analytics.overview import drawing
from analytics.overview.amounts import on_axis
from analytics.overview.drawing import Label, Mark
from analytics.overview.tables import Table
from companies.locales import current
from ledger.calc.money import smallest_unit

FEW_MONTHS = 18  # up to so many, every third is named where there is little room; beyond, every sixth
THIRD, SIXTH = 3, 6
LONG_NAME = 20  # characters; beyond, the names of six columns touch on a tablet
FOOT = 44  # pixels below the plot, for the names of months


@dataclass(frozen=True, slots=True)
class Key:
    """One entry of the legend; a ``line`` is drawn as one."""

    series: str
    label: str | Promise
    line: bool = False


@dataclass(frozen=True, slots=True)
class Picture:
    """A chart in hundredths of its width and in pixels down.

    ``paths`` are (classes, path) in a thousand units across; ``places`` is into how many strips the width is divided,
    each of which stands for a row of the table, and ``edges`` whether they begin and end at the edges, as days do.
    """

    ticks: list[tuple[float, str]]
    zero: float
    labels: list[Label]
    places: int
    edges: bool = False
    bars: SafeString | None = None
    paths: Sequence[tuple[str, str]] = ()
    ends: Sequence[tuple[str, float, float]] = ()  # (series, x, y) of the dots in which lines end
    marks: Sequence[Mark] = ()
    now: tuple[float, float] | None = None  # the strip of the month under way
    cutover: float | None = None  # where what happened ends and what is planned begins
    height: int = HEIGHT

    @property
    def whole_height(self) -> int:
        return self.height + FOOT

    @property
    def crowded(self) -> bool:
        """Whether the names, many or long, need the width of a whole page."""
        return len(self.labels) > FEW_MONTHS or any(len(label.text) > LONG_NAME for label in self.labels)

    @property
    def axis(self) -> SafeString:
        return drawing.axis(self.ticks)

    @property
    def grid(self) -> SafeString:
        return drawing.grid(self.ticks)

    @property
    def marked(self) -> SafeString:
        return drawing.marks(self.marks, height=self.height)

    @property
    def names(self) -> SafeString:
        return drawing.names(self.labels, height=self.height)


@dataclass(frozen=True, slots=True)
class Section:
    """A chart with its heading; ``note`` says why there is none. ``span`` is its share of the width in sixths.

    ``nothing`` stands where the chart would be when all its numbers are zero, and says where they would come from;
    ``start``, an address and what its link says, leads there. ``action`` is such a link behind the lead.
    """

    id: str
    title: str
    lead: str = ""
    described: str = ""
    keys: Sequence[Key] = ()
    picture: Picture | None = None
    table: Table | None = None
    unfolded: bool = False  # the table is shown at once
    span: int = 6
    note: str = ""
    nothing: str = ""
    start: tuple[str, str] | None = None
    action: tuple[str, str] | None = None
    file: bool = True  # its numbers can be downloaded

    @property
    def is_empty(self) -> bool:
        return bool(self.nothing and self.table and self.table.is_empty)


def tick_texts(ticks: Sequence[Tick], currency: str) -> list[tuple[float, str]]:
    return [(tick.y, on_axis(tick.value, currency)) for tick in ticks]


def labels(places: Sequence[tuple[float, date]], *, here: int, now: bool = False) -> list[Label]:
    """Months by their places across; ``here`` is the one that is named in any case, where few are."""
    every = THIRD if len(places) <= FEW_MONTHS else SIXTH
    found: list[Label] = []
    years, years_of_major = set(), set()
    named = current().month

    def year_after(index: int) -> int:
        """The next name's year: two years beside each other would touch, and the new one says more."""
        return places[min(index + 1, len(places) - 1)][1].year

    for index, (x, month) in enumerate(places):
        minor = bool((index - here) % every)
        found.append(
            Label(
                x=round(x, 3),
                text=named(month, year=False),
                year=f"{month:%Y}",
                first=month.year not in years and month.year == year_after(index),
                minor=minor,
                first_major=not minor and month.year not in years_of_major,
                now=now and index == here,
            )
        )
        years.add(month.year)
        if not minor:
            years_of_major.add(month.year)
    return found


def month_labels(months: Sequence[date], *, today: date) -> list[Label]:
    """One in the middle of each column."""
    place, month = 100 / len(months), today.replace(day=1)
    here = months.index(month) if month in months else len(months) - 1
    return labels([((index + 0.5) * place, each) for index, each in enumerate(months)], here=here, now=True)


def month_picture(
    drawn: Columns, *, months: Sequence[date], currency: str, today: date, path: str = "", cutover: float | None = None
) -> Picture:
    """Columns of months, the one under way marked."""
    here = [column for column, month in zip(drawn.columns, months, strict=True) if month == today.replace(day=1)]
    return Picture(
        ticks=tick_texts(drawn.ticks, currency),
        zero=drawn.zero,
        labels=month_labels(months, today=today),
        places=len(months),
        bars=drawing.bars(drawn),
        paths=[("net-under", path), ("net", path)] if path else (),
        now=(here[0].x, here[0].width) if here else None,
        cutover=cutover,
    )


def named_picture(
    drawn: Columns, *, names: Sequence[tuple[str, str]], currency: str, paths: Sequence[tuple[str, str]] = ()
) -> Picture:
    """Columns under (name, short name)."""
    return Picture(
        ticks=tick_texts(drawn.ticks, currency),
        zero=drawn.zero,
        labels=[
            Label(x=column.middle, text=name, short=short)
            for column, (name, short) in zip(drawn.columns, names, strict=True)
        ],
        places=len(names),
        bars=drawing.bars(drawn),
        paths=paths,
    )


def day_picture(
    drawn: Lines,
    *,
    series: Sequence[str],
    days: Sequence[date],
    currency: str,
    height: int,
    marks: Sequence[Mark] = (),
    cutover: float | None = None,
) -> Picture:
    """Lines over days, named at the first of each month; the first of them with the area below it."""
    place = 100 / max(len(days) - 1, 1)
    firsts = [(index * place, day) for index, day in enumerate(days) if day.day == 1]
    named = [(f"line l-{name}", line.path) for name, line in zip(series, drawn.lines, strict=True) if line.path]
    area = (f"area a-{series[0]}", drawn.lines[0].area)
    return Picture(
        ticks=tick_texts(drawn.ticks, currency),
        zero=drawn.zero,
        labels=labels(firsts, here=len(firsts) - 1),
        places=len(days),
        edges=True,
        paths=[area, *reversed(named)],
        ends=[(name, line.last_x, line.last_y) for name, line in zip(series, drawn.lines, strict=True) if line.path],
        marks=marks,
        cutover=cutover,
        height=height,
    )


def smallest(currency: str) -> Decimal:
    """The smallest step of an axis: the currency's own unit."""
    return smallest_unit(currency)
