"""Where the parts of a chart lie: stacked columns above and below zero, and a line over days.

Across, everything is in hundredths of the width, so that a chart is as wide as its place; down, in pixels.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import NamedTuple

from analytics.calc.scales import Scale, scale_of, ticks

ZERO = Decimal(0)
HEIGHT = 232  # of the plot itself, in pixels
HEADROOM = 10  # above the highest tick and below the lowest, for their labels
LINE_WIDTH = 1000  # units across in which a line is drawn, then stretched to the width
TAKEN = 0.68  # of a column's place, by its bars
GAP = 0.06  # between the bars of a column
THINNEST = 1.0  # pixels of what is not zero

Stack = Sequence[tuple[str, Decimal]]
"""(series, value) of one bar, from zero outwards; positive ones go up, negative ones down."""


@dataclass(frozen=True, slots=True)
class Tick:
    value: Decimal
    y: float


class Segment(NamedTuple):
    """A part of a bar."""

    series: str
    x: float
    width: float
    y: float
    height: float


class Column(NamedTuple):
    """A place on the axis with its bars."""

    x: float
    width: float
    middle: float
    segments: list[Segment]


@dataclass(frozen=True, slots=True)
class Columns:
    ticks: list[Tick]
    zero: float
    columns: list[Column]
    scale: Scale


@dataclass(frozen=True, slots=True)
class Line:
    """A line as a path in units of ``LINE_WIDTH`` across, the area between it and zero, and where it ends: how far
    across in hundredths, and down."""

    path: str
    area: str
    last_y: float
    last_x: float = 100.0


@dataclass(frozen=True, slots=True)
class Lines:
    """Lines on one scale."""

    ticks: list[Tick]
    zero: float
    lines: list[Line]
    scale: Scale


@dataclass(frozen=True, slots=True)
class Waterfall:
    """Columns of which each begins where the one before ends, and the levels that they share as a path."""

    columns: Columns
    levels: str


def columns(bars: Sequence[Sequence[Stack]], *, smallest: Decimal = Decimal("0.01"), height: int = HEIGHT) -> Columns:
    """Columns of one or more stacked bars side by side.

    >>> drawn = columns([[[("in", Decimal(10))], [("out", Decimal(-10))]]])
    >>> [(part.series, part.x, part.width, part.y, part.height) for part in drawn.columns[0].segments]
    [('in', 16.0, 31.96, 10.0, 106.0), ('out', 52.04, 31.96, 116.0, 106.0)]
    """
    ends = [end for column in bars for stack in column for end in reach(stack)]
    marks = ticks(ends, smallest=smallest)
    scale = scale_of(marks, top=HEADROOM, bottom=height - HEADROOM)
    place = 100 / max(len(bars), 1)
    placed = [
        Column(
            x=round(index * place, 3),
            width=round(place, 3),
            middle=round((index + 0.5) * place, 3),
            segments=segments(column, left=index * place, place=place, scale=scale),
        )
        for index, column in enumerate(bars)
    ]
    return Columns(ticks=at(marks, scale), zero=scale.y(ZERO), columns=placed, scale=scale)


def reach(stack: Stack) -> tuple[Decimal, Decimal]:
    """How far a stack goes down and up."""
    below = sum((value for _, value in stack if value < 0), start=ZERO)
    return below, sum((value for _, value in stack if value > 0), start=ZERO)


def segments(column: Sequence[Stack], *, left: float, place: float, scale: Scale) -> list[Segment]:
    """The parts of a column's bars that are not zero."""
    count = len(column)
    gap = GAP * place * TAKEN
    width = (place * TAKEN - gap * (count - 1)) / max(count, 1)
    start = left + place * (1 - TAKEN) / 2
    found = []
    for number, stack in enumerate(column):
        x = round(start + number * (width + gap), 3)
        up = down = ZERO
        for series, value in stack:
            if value > 0:
                lower, upper = scale.ys((up, up := up + value))
            elif value < 0:
                upper, lower = scale.ys((down, down := down + value))
            else:
                continue
            found.append(Segment(series, x, round(width, 3), upper, max(round(lower - upper, 1), THINNEST)))
    return found


def lines(
    series: Sequence[Sequence[Decimal | None]], *, smallest: Decimal = Decimal("0.01"), height: int = HEIGHT
) -> Lines:
    """Lines through values that are evenly apart; a single value is level. Where a value is None there is no line.

    >>> [line.path for line in lines([[Decimal(0), Decimal(10)], [Decimal(5), Decimal(5)]]).lines]
    ['M0 222L1000 10', 'M0 116L1000 116']
    """
    known = [[value for value in values if value is not None] for values in series]
    marks = ticks([end for values in known if values for end in (min(values), max(values))], smallest=smallest)
    scale = scale_of(marks, top=HEADROOM, bottom=height - HEADROOM)
    zero = scale.y(ZERO)
    drawn = [line(values, scale=scale, zero=zero) for values in series]
    return Lines(ticks=at(marks, scale), zero=zero, lines=drawn, scale=scale)


def line(values: Sequence[Decimal | None], *, scale: Scale, zero: float) -> Line:
    apart = LINE_WIDTH / max(len(values) - 1, 1)
    places = [number(index * apart) for index, value in enumerate(values) if value is not None]
    heights = scale.ys(value for value in values if value is not None)
    if len(values) == 1:
        places, heights = ["0", str(LINE_WIDTH)], heights * 2
    if not heights:
        return Line(path="", area="", last_y=zero)
    path = "M" + "L".join(f"{x} {number(y)}" for x, y in zip(places, heights, strict=True))
    area = f"{path}L{places[-1]} {number(zero)}L{places[0]} {number(zero)}Z"
    return Line(path=path, area=area, last_y=heights[-1], last_x=round(float(places[-1]) * 100 / LINE_WIDTH, 3))


def waterfall(
    first: tuple[str, Decimal],
    steps: Sequence[tuple[str, Decimal]],
    last: str,
    *,
    smallest: Decimal = Decimal("0.01"),
    height: int = HEIGHT,
) -> Waterfall:
    """A column from zero, a column a step that begins where the one before ended, and what they come to from zero.

    >>> drawn = waterfall(("start", Decimal(10)), [("new", Decimal(10)), ("gone", Decimal(-5))], "end")
    >>> [(part.series, part.y, part.height) for column in drawn.columns.columns for part in column.segments]
    [('start', 116.0, 106.0), ('new', 10.0, 106.0), ('gone', 10.0, 53.0), ('end', 63.0, 159.0)]
    """
    spans = [(first[0], ZERO, first[1])]
    for series, change in steps:
        spans.append((series, spans[-1][2], spans[-1][2] + change))
    spans.append((last, ZERO, spans[-1][2]))
    marks = ticks([end for _, *ends in spans for end in ends], smallest=smallest)
    scale = scale_of(marks, top=HEADROOM, bottom=height - HEADROOM)
    place = 100 / len(spans)
    placed = [
        Column(
            x=round(index * place, 3),
            width=round(place, 3),
            middle=round((index + 0.5) * place, 3),
            segments=[span(series, begin, end, left=index * place, place=place, scale=scale)] if begin != end else [],
        )
        for index, (series, begin, end) in enumerate(spans)
    ]
    edge = place * (1 - TAKEN) / 2
    levels = [
        f"M{number(10 * (index * place + place - edge))} {y}L{number(10 * ((index + 1) * place + edge))} {y}"
        for index, y in enumerate(number(scale.y(end)) for _, _, end in spans[:-1])
    ]
    drawn = Columns(ticks=at(marks, scale), zero=scale.y(ZERO), columns=placed, scale=scale)
    return Waterfall(columns=drawn, levels="".join(levels))


def span(series: str, begin: Decimal, end: Decimal, *, left: float, place: float, scale: Scale) -> Segment:
    """A bar between two levels."""
    upper, lower = scale.y(max(begin, end)), scale.y(min(begin, end))
    x, width = round(left + place * (1 - TAKEN) / 2, 3), round(place * TAKEN, 3)
    return Segment(series, x, width, upper, max(round(lower - upper, 1), THINNEST))


def points(values: Sequence[Decimal], drawn: Columns) -> str:
    """A path through the middles of columns, one value each, in units of ``LINE_WIDTH`` across."""
    pairs = zip(drawn.columns, values, strict=True)
    middles = (f"{number(column.middle * 10)} {number(drawn.scale.y(value))}" for column, value in pairs)
    path = "L".join(middles)
    return f"M{path}" if path else ""


def at(marks: Sequence[Decimal], scale: Scale) -> list[Tick]:
    return [Tick(value, scale.y(value)) for value in marks]


def number(value: float) -> str:
    """With at most one decimal.

    >>> number(10.0), number(3.14)
    ('10', '3.1')
    """
    return f"{value:.1f}".removesuffix(".0")
