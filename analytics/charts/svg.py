"""Chart marks as SVG. Written in Python, since template loops over hundreds of marks are many times slower.

The content is our own: series names, months, numbers, amounts. Nothing needs escaping but what `draw_text`
escapes.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from django.utils.safestring import SafeString

from analytics.calc.chart_layout import ColumnChart

Ticks = Sequence[tuple[float, str]]
"""(y, amount)"""


class AxisLabel(NamedTuple):
    """A label of the horizontal axis, with its year below where it is the first one shown of that year."""

    x: float
    text: str
    year: str = ""
    short: str = ""  # replaces the text on narrow screens
    first: bool = False
    minor: bool = False  # hidden on narrow screens
    first_major: bool = False  # the first of its year on narrow screens
    now: bool = False
    note: str = ""  # below the text, in place of the year
    short_note: str = ""  # replaces the note on narrow screens
    lowered: bool = False  # on narrow screens below its neighbours


MAX_LINE_LENGTH = 14  # characters of a name in one line; beyond, eight columns' names touch on a laptop
FIRST_LINE_PX, SECOND_LINE_PX = 16, 30  # of names, below the plot
NOTE_LINE_PX = 33
TEXT_HEIGHT_PX = 28  # of a text below its point


@dataclass(frozen=True, slots=True)
class PointMark:
    """A labelled point: `x` in percent, `y` in pixels; `kind` is an additional CSS class."""

    x: float
    y: float
    text: str
    kind: str = ""


def draw_marks(point_marks: Iterable[PointMark], *, height: int) -> SafeString:
    """Draw a ring and a text for each marked point; the text stays within the plot."""
    return join_svg(
        f'<g class="point-mark {mark.kind}"><circle cx="{mark.x}%" cy="{mark.y}" r="5"/>'
        f'<text x="{mark.x}%" y="{mark.y}" '
        f'dy="{-12 if mark.y > height - TEXT_HEIGHT_PX else 20}" text-anchor="{get_text_anchor(mark.x)}">'
        f"{mark.text}</text></g>"
        for mark in point_marks
    )


def get_text_anchor(x: float) -> str:
    """Return which end of a text is at its position."""
    return "start" if x < 20 else "end" if x > 80 else "middle"


def draw_bars(chart: ColumnChart) -> SafeString:
    """Draw a rectangle for each segment."""
    return join_svg(
        f'<rect class="bar s-{part.series}" x="{part.x}%" y="{part.y}" width="{part.width}%" '
        f'height="{part.height}" rx="1.5"/>'
        for column in chart.columns
        for part in column.segments
    )


def draw_axis(ticks: Ticks) -> SafeString:
    """Draw the amounts beside the plot."""
    return join_svg(f'<text x="100%" dx="-8" y="{y}" dy="0.32em" text-anchor="end">{text}</text>' for y, text in ticks)


def draw_grid(ticks: Ticks) -> SafeString:
    """Draw a line for each tick."""
    return join_svg(f'<line class="grid" x1="0" x2="100%" y1="{y}" y2="{y}"/>' for y, _ in ticks)


def draw_labels(labels: Iterable[AxisLabel], *, height: int) -> SafeString:
    """Draw the labels below the plot."""
    return join_svg(
        f'<g class="{get_label_classes(label)}">{"".join(iter_label_texts(label, height))}</g>' for label in labels
    )


def get_label_classes(label: AxisLabel) -> str:
    return f"x-label{' minor' if label.minor else ''}{' current-label' if label.now else ''}"


def iter_label_texts(label: AxisLabel, height: int) -> Iterable[str]:
    lines = split_name(label.text) if label.short else (label.text,)
    for line, offset in zip(lines, (FIRST_LINE_PX, SECOND_LINE_PX), strict=False):
        yield draw_text(line, "wide-label" if label.short else "", label.x, height, offset)
    if label.short:
        yield draw_text(
            label.short, "narrow-label", label.x, height, SECOND_LINE_PX if label.lowered else FIRST_LINE_PX
        )
    if label.note:
        yield draw_text(label.note, "year wide-label", label.x, height, NOTE_LINE_PX)
        yield draw_text(label.short_note or label.note, "year narrow-label", label.x, height, NOTE_LINE_PX)
    elif label.first or label.first_major:
        css_classes = f"year{' wide-label' if label.first else ''}{' narrow-label' if label.first_major else ''}"
        yield draw_text(label.year, css_classes, label.x, height, NOTE_LINE_PX)


def split_name(name: str) -> tuple[str, ...]:
    """Split a long name into two lines, as even as its words allow.

    >>> split_name("FX and rounding"), split_name("Churn")
    (('FX and', 'rounding'), ('Churn',))
    """
    spaces = [index for index, character in enumerate(name) if character == " "]
    if len(name) <= MAX_LINE_LENGTH or not spaces:
        return (name,)
    middle = min(spaces, key=lambda index: max(index, len(name) - index - 1))
    return name[:middle], name[middle + 1 :]


def draw_text(text: str, css_classes: str, x: float, y: int, dy: int) -> str:
    text = text.replace("&", "&amp;")  # the only character of our names that needs escaping
    return f'<text class="{css_classes}" x="{x}%" y="{y}" dy="{dy}" text-anchor="middle">{text}</text>'


def join_svg(parts: Iterable[str]) -> SafeString:
    return SafeString("".join(parts))
