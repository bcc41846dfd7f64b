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
    """A name on the axis across, with the year below it where it is the first of one."""

    x: float
    text: str
    year: str = ""
    minor: bool = False  # left out where there is little room
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


def month_labels(months: Sequence[date], *, today: date) -> list[Label]:
    """One in the middle of each column; the month under way is always named where few are."""
    place = 100 / len(months)
    every = THIRD if len(months) <= FEW_MONTHS else SIXTH
    here = months.index(today.replace(day=1)) if today.replace(day=1) in months else len(months) - 1
    return [
        Label(
            x=round((index + 0.5) * place, 3),
            text=f"{month:%b}",
            year=f"{month:%Y}" if index == 0 or month.month == 1 else "",
            minor=bool((index - here) % every),
            now=index == here,
        )
        for index, month in enumerate(months)
    ]


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
    firsts = [(index, day) for index, day in enumerate(days) if day.day == 1]
    every = THIRD if len(firsts) <= FEW_MONTHS else SIXTH
    labels = [
        Label(
            x=round(index * place, 3),
            text=f"{day:%b}",
            year=f"{day:%Y}" if number == 0 or day.month == 1 else "",
            minor=bool((len(firsts) - 1 - number) % every),
        )
        for number, (index, day) in enumerate(firsts)
    ]
    hits = [Hit(round((index - 0.5) * place, 3), round(place, 3), text) for index, text in enumerate(sayings)]
    return Picture(
        ticks=tick_texts(drawn.ticks, currency),
        zero=drawn.zero,
        labels=labels,
        hits=hits,
        path=drawn.path,
        area=drawn.area,
        last_y=drawn.last_y,
    )


def smallest(currency: str) -> Decimal:
    """The smallest step of an axis: the currency's own unit."""
    return smallest_unit(currency)
