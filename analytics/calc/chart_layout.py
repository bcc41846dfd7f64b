"""Layout of charts: stacked columns above and below zero, waterfalls, and lines over days.

Horizontal values are in percent of the width, so that a chart is as wide as its place. Vertical values are
pixels.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import NamedTuple

from analytics.calc.axis_scales import Scale, build_scale, compute_ticks

ZERO = Decimal(0)
PLOT_HEIGHT_PX = 232  # of the plot without labels
HEADROOM_PX = 10  # above the highest and below the lowest tick, for their labels
LINE_WIDTH_UNITS = 1000  # the horizontal extent of a line's path, which is stretched to the chart's width
COLUMN_FILL_SHARE = 0.68  # share of a column's width that its bars fill
MAX_COLUMN_FILL = 24.0  # percent of the plot that the bars of one column fill at most
BAR_GAP_SHARE = 0.06  # share of the bar area between two bars
MIN_BAR_HEIGHT_PX = 1.0  # so that every non-zero value is visible

Stack = Sequence[tuple[str, Decimal]]
"""(series, value) of one bar, from zero outwards; positive ones go up, negative ones down."""


@dataclass(frozen=True, slots=True)
class Tick:
    value: Decimal
    y: float


class BarSegment(NamedTuple):
    """A part of a bar."""

    series: str
    x: float
    width: float
    y: float
    height: float


class ChartColumn(NamedTuple):
    """A place on the axis with its bars."""

    x: float
    width: float
    middle: float
    segments: list[BarSegment]


@dataclass(frozen=True, slots=True)
class ColumnChart:
    ticks: list[Tick]
    zero: float
    columns: list[ChartColumn]
    scale: Scale


@dataclass(frozen=True, slots=True)
class ChartLine:
    """A line as an SVG path of LINE_WIDTH_UNITS across, the area between it and zero, and its end point.

    `last_x` is in percent of the width, `last_y` in pixels.
    """

    path: str
    area: str
    last_y: float
    last_x: float = 100.0


@dataclass(frozen=True, slots=True)
class LineChart:
    """Lines on one scale."""

    ticks: list[Tick]
    zero: float
    lines: list[ChartLine]
    scale: Scale


@dataclass(frozen=True, slots=True)
class WaterfallChart:
    """Columns that each begin where the one before ends, and the path that connects them."""

    columns: ColumnChart
    levels: str


def build_column_chart(
    bars: Sequence[Sequence[Stack]], *, smallest: Decimal = Decimal("0.01"), height: int = PLOT_HEIGHT_PX
) -> ColumnChart:
    """Build columns of one or more stacked bars side by side.

    >>> drawn = build_column_chart([[[("in", Decimal(10))], [("out", Decimal(-10))]]])
    >>> [(part.series, part.x, part.width, part.y, part.height) for part in drawn.columns[0].segments]
    [('in', 38.0, 11.28, 10.0, 106.0), ('out', 50.72, 11.28, 116.0, 106.0)]
    """
    extents = [end for column in bars for stack in column for end in compute_stack_extent(stack)]
    tick_values = compute_ticks(extents, smallest=smallest)
    scale = build_scale(tick_values, top=HEADROOM_PX, bottom=height - HEADROOM_PX)
    column_width = 100 / max(len(bars), 1)
    chart_columns = [
        ChartColumn(
            x=round(index * column_width, 3),
            width=round(column_width, 3),
            middle=round((index + 0.5) * column_width, 3),
            segments=build_segments(column, left=index * column_width, column_width=column_width, scale=scale),
        )
        for index, column in enumerate(bars)
    ]
    return ColumnChart(
        ticks=build_ticks(tick_values, scale), zero=scale.get_position(ZERO), columns=chart_columns, scale=scale
    )


def compute_stack_extent(stack: Stack) -> tuple[Decimal, Decimal]:
    """Return how far a stack goes below and above zero."""
    below = sum((value for _, value in stack if value < 0), start=ZERO)
    return below, sum((value for _, value in stack if value > 0), start=ZERO)


def build_segments(column: Sequence[Stack], *, left: float, column_width: float, scale: Scale) -> list[BarSegment]:
    """Build the parts of a column's bars that are not zero."""
    count = len(column)
    filled = min(column_width * COLUMN_FILL_SHARE, MAX_COLUMN_FILL)
    gap = BAR_GAP_SHARE * filled
    width = (filled - gap * (count - 1)) / max(count, 1)
    start = left + (column_width - filled) / 2
    bar_segments = []
    for number, stack in enumerate(column):
        x = round(start + number * (width + gap), 3)
        up = down = ZERO
        for series, value in stack:
            if value > 0:
                lower, upper = scale.get_positions((up, up := up + value))
            elif value < 0:
                upper, lower = scale.get_positions((down, down := down + value))
            else:
                continue
            bar_segments.append(
                BarSegment(series, x, round(width, 3), upper, max(round(lower - upper, 1), MIN_BAR_HEIGHT_PX))
            )
    return bar_segments


def build_line_chart(
    series: Sequence[Sequence[Decimal | None]], *, smallest: Decimal = Decimal("0.01"), height: int = PLOT_HEIGHT_PX
) -> LineChart:
    """Build lines through evenly spaced values; a single value is a level line, None leaves a gap.

    >>> [line.path for line in build_line_chart([[Decimal(0), Decimal(10)], [Decimal(5), Decimal(5)]]).lines]
    ['M0 222L1000 10', 'M0 116L1000 116']
    """
    known_values = [[value for value in values if value is not None] for values in series]
    tick_values = compute_ticks(
        [end for values in known_values if values for end in (min(values), max(values))], smallest=smallest
    )
    scale = build_scale(tick_values, top=HEADROOM_PX, bottom=height - HEADROOM_PX)
    zero = scale.get_position(ZERO)
    chart_lines = [build_chart_line(values, scale=scale, zero=zero) for values in series]
    return LineChart(ticks=build_ticks(tick_values, scale), zero=zero, lines=chart_lines, scale=scale)


def build_chart_line(values: Sequence[Decimal | None], *, scale: Scale, zero: float) -> ChartLine:
    spacing = LINE_WIDTH_UNITS / max(len(values) - 1, 1)
    x_values = [format_coordinate(index * spacing) for index, value in enumerate(values) if value is not None]
    y_values = scale.get_positions(value for value in values if value is not None)
    if len(values) == 1:
        x_values, y_values = ["0", str(LINE_WIDTH_UNITS)], y_values * 2
    if not y_values:
        return ChartLine(path="", area="", last_y=zero)
    path = "M" + "L".join(f"{x} {format_coordinate(y)}" for x, y in zip(x_values, y_values, strict=True))
    area = f"{path}L{x_values[-1]} {format_coordinate(zero)}L{x_values[0]} {format_coordinate(zero)}Z"
    return ChartLine(
        path=path, area=area, last_y=y_values[-1], last_x=round(float(x_values[-1]) * 100 / LINE_WIDTH_UNITS, 3)
    )


def build_waterfall_chart(
    first: tuple[str, Decimal],
    steps: Sequence[tuple[str, Decimal]],
    last: str,
    *,
    smallest: Decimal = Decimal("0.01"),
    height: int = PLOT_HEIGHT_PX,
) -> WaterfallChart:
    """Build a waterfall: a first column from zero, a column for each step, and the resulting column from zero.

    >>> drawn = build_waterfall_chart(("start", Decimal(10)), [("new", Decimal(10)), ("gone", Decimal(-5))], "end")
    >>> [(part.series, part.y, part.height) for column in drawn.columns.columns for part in column.segments]
    [('start', 116.0, 106.0), ('new', 10.0, 106.0), ('gone', 10.0, 53.0), ('end', 63.0, 159.0)]
    """
    spans = [(first[0], ZERO, first[1])]
    for series, change in steps:
        spans.append((series, spans[-1][2], spans[-1][2] + change))
    spans.append((last, ZERO, spans[-1][2]))
    tick_values = compute_ticks([end for _, *ends in spans for end in ends], smallest=smallest)
    scale = build_scale(tick_values, top=HEADROOM_PX, bottom=height - HEADROOM_PX)
    column_width = 100 / len(spans)
    chart_columns = [
        ChartColumn(
            x=round(index * column_width, 3),
            width=round(column_width, 3),
            middle=round((index + 0.5) * column_width, 3),
            segments=[
                build_step_segment(
                    series, begin, end, left=index * column_width, column_width=column_width, scale=scale
                )
            ]
            if begin != end
            else [],
        )
        for index, (series, begin, end) in enumerate(spans)
    ]
    edge = column_width * (1 - COLUMN_FILL_SHARE) / 2
    levels = [
        f"M{format_coordinate(10 * (index * column_width + column_width - edge))} {y}"
        f"L{format_coordinate(10 * ((index + 1) * column_width + edge))} {y}"
        for index, y in enumerate(format_coordinate(scale.get_position(end)) for _, _, end in spans[:-1])
    ]
    column_chart = ColumnChart(
        ticks=build_ticks(tick_values, scale), zero=scale.get_position(ZERO), columns=chart_columns, scale=scale
    )
    return WaterfallChart(columns=column_chart, levels="".join(levels))


def build_step_segment(
    series: str, begin: Decimal, end: Decimal, *, left: float, column_width: float, scale: Scale
) -> BarSegment:
    """Build a bar between two levels."""
    upper, lower = scale.get_position(max(begin, end)), scale.get_position(min(begin, end))
    x, width = round(left + column_width * (1 - COLUMN_FILL_SHARE) / 2, 3), round(column_width * COLUMN_FILL_SHARE, 3)
    return BarSegment(series, x, width, upper, max(round(lower - upper, 1), MIN_BAR_HEIGHT_PX))


def build_points_path(values: Sequence[Decimal], chart: ColumnChart) -> str:
    """Build a path through the middles of columns, one value each, in LINE_WIDTH_UNITS across."""
    pairs = zip(chart.columns, values, strict=True)
    middles = (
        f"{format_coordinate(column.middle * 10)} {format_coordinate(chart.scale.get_position(value))}"
        for column, value in pairs
    )
    path = "L".join(middles)
    return f"M{path}" if path else ""


def build_ticks(tick_values: Sequence[Decimal], scale: Scale) -> list[Tick]:
    return [Tick(value, scale.get_position(value)) for value in tick_values]


def format_coordinate(value: float) -> str:
    """Format a coordinate with at most one decimal.

    >>> format_coordinate(10.0), format_coordinate(3.14)
    ('10', '3.1')
    """
    return f"{value:.1f}".removesuffix(".0")
