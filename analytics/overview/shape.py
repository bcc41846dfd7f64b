"""What a section of the page is made of: a chart, how it is read, and the numbers behind it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal

from analytics.calc.amounts import compact
from analytics.calc.charts import HEIGHT, Column, Columns, Line, Tick
from ledger.calc.money import smallest_unit

FEW_MONTHS = 18  # up to so many, every third is named where there is little room; beyond, every sixth
THIRD, SIXTH = 3, 6
FOOT = 44  # pixels below the plot, for the names of months


@dataclass(frozen=True, slots=True)
class Key:
    """One entry of the legend."""

    series: str
    label: str


@dataclass(frozen=True, slots=True)
class Label:
    """A name on the axis across, and its year below it where it is the first of one that is shown."""

    x: float
    text: str
    year: str
    first: bool = False
    minor: bool = False  # left out where there is little room
    first_major: bool = False  # the first of its year among those that stay
    now: bool = False


@dataclass(frozen=True, slots=True)
class Hit:
    """A strip of the plot, and what is said of it: a heading, then a line a number."""

    x: float
    width: float
    said: str


@dataclass(frozen=True, slots=True)
class Table:
    head: Sequence[str]
    rows: Sequence[tuple[str, Sequence[str]]]


@dataclass(frozen=True, slots=True)
class Picture:
    """A chart in hundredths of its width and in pixels down."""

    ticks: list[tuple[float, str]]
    zero: float
    labels: list[Label]
    hits: list[Hit]
    columns: list[Column] = field(default_factory=list)
    path: str = ""
    area: str = ""
    last_y: float | None = None
    now: tuple[float, float] | None = None  # the strip of the month under way
    height: int = HEIGHT
    whole_height: int = HEIGHT + FOOT


@dataclass(frozen=True, slots=True)
class Section:
    """A chart with its heading; ``note`` says why there is none."""

    id: str
    title: str
    lead: str
    described: str = ""
    keys: Sequence[Key] = ()
    picture: Picture | None = None
    table: Table | None = None
    note: str = ""


def said(heading: str, lines: Iterable[tuple[str, str]]) -> str:
    return "\n".join((heading, *(f"{name}: {text}" for name, text in lines)))


def tick_texts(ticks: Sequence[Tick], currency: str) -> list[tuple[float, str]]:
    return [(tick.y, compact(tick.value, currency)) for tick in ticks]


def labels(places: Sequence[tuple[float, date]], *, here: int, now: bool = False) -> list[Label]:
    """Months by their places across; ``here`` is the one that is named in any case, where few are."""
    every = THIRD if len(places) <= FEW_MONTHS else SIXTH
    found: list[Label] = []
    years, years_of_major = set(), set()

    def year_after(index: int) -> int:
        """The next name's year: two years beside each other would touch, and the new one says more."""
        return places[min(index + 1, len(places) - 1)][1].year

    for index, (x, month) in enumerate(places):
        minor = bool((index - here) % every)
        found.append(
            Label(
                x=round(x, 3),
                text=f"{month:%b}",
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
    drawn: Columns, *, months: Sequence[date], sayings: Sequence[str], currency: str, today: date, path: str = ""
) -> Picture:
    """Columns of months, the one under way marked."""
    hits = [Hit(column.x, column.width, text) for column, text in zip(drawn.columns, sayings, strict=True)]
    here = [column for column, month in zip(drawn.columns, months, strict=True) if month == today.replace(day=1)]
    return Picture(
        ticks=tick_texts(drawn.ticks, currency),
        zero=drawn.zero,
        labels=month_labels(months, today=today),
        hits=hits,
        columns=drawn.columns,
        path=path,
        now=(here[0].x, here[0].width) if here else None,
    )


def day_picture(drawn: Line, *, days: Sequence[date], sayings: Sequence[str], currency: str) -> Picture:
    """A line over days, named at the first of each month."""
    place = 100 / max(len(days) - 1, 1)
    firsts = [(index * place, day) for index, day in enumerate(days) if day.day == 1]
    hits = [Hit(round((index - 0.5) * place, 3), round(place, 3), text) for index, text in enumerate(sayings)]
    return Picture(
        ticks=tick_texts(drawn.ticks, currency),
        zero=drawn.zero,
        labels=labels(firsts, here=len(firsts) - 1),
        hits=hits,
        path=drawn.path,
        area=drawn.area,
        last_y=drawn.last_y,
    )


def smallest(currency: str) -> Decimal:
    """The smallest step of an axis: the currency's own unit."""
    return smallest_unit(currency)
