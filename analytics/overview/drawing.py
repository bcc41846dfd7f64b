"""Marks as SVG. They are written here, not in the template: its loops take many times as long over hundreds of them.

Everything in them is of our own making, names of series and months, numbers, amounts: there is nothing to escape.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from django.utils.safestring import SafeString

from analytics.calc.charts import Columns

Ticks = Sequence[tuple[float, str]]
"""(y, amount)"""


class Label(NamedTuple):
    """A name on the axis across, and its year below it where it is the first of one that is shown."""

    x: float
    text: str
    year: str = ""
    short: str = ""  # takes the text's place where there is little room
    first: bool = False
    minor: bool = False  # left out where there is little room
    first_major: bool = False  # the first of its year among those that stay
    now: bool = False


ROOM = 28  # pixels that a text below its point takes


@dataclass(frozen=True, slots=True)
class Mark:
    """A point that is named: ``x`` in hundredths, ``y`` in pixels, ``kind`` what it is besides."""

    x: float
    y: float
    text: str
    kind: str = ""


def marks(found: Iterable[Mark], *, height: int) -> SafeString:
    """A ring and its text, which stays within the plot: below its point where there is room."""
    return joined(
        f'<g class="mark {mark.kind}"><circle cx="{mark.x}%" cy="{mark.y}" r="5"/><text x="{mark.x}%" y="{mark.y}" '
        f'dy="{-12 if mark.y > height - ROOM else 20}" text-anchor="{anchor(mark.x)}">{mark.text}</text></g>'
        for mark in found
    )


def anchor(x: float) -> str:
    """Which end of a text stands at a place."""
    return "start" if x < 20 else "end" if x > 80 else "middle"


def bars(drawn: Columns) -> SafeString:
    """A rectangle a part."""
    return joined(
        f'<rect class="bar s-{part.series}" x="{part.x}%" y="{part.y}" width="{part.width}%" '
        f'height="{part.height}" rx="1.5"/>'
        for column in drawn.columns
        for part in column.segments
    )


def axis(ticks: Ticks) -> SafeString:
    """The amounts beside the plot."""
    return joined(f'<text x="100%" dx="-8" y="{y}" dy="0.32em" text-anchor="end">{text}</text>' for y, text in ticks)


def grid(ticks: Ticks) -> SafeString:
    """A line an amount."""
    return joined(f'<line class="grid" x1="0" x2="100%" y1="{y}" y2="{y}"/>' for y, _ in ticks)


def names(labels: Iterable[Label], *, height: int) -> SafeString:
    """What stands below the plot."""
    return joined(f'<g class="{classes(label)}">{"".join(texts(label, height))}</g>' for label in labels)


def classes(label: Label) -> str:
    return f"x-label{' minor' if label.minor else ''}{' here' if label.now else ''}"


def texts(label: Label, height: int) -> Iterable[str]:
    yield named(label.text, "wide" if label.short else "", label.x, height, 16)
    if label.short:
        yield named(label.short, "slim", label.x, height, 16)
    if label.first or label.first_major:
        kinds = f"year{' wide' if label.first else ''}{' slim' if label.first_major else ''}"
        yield named(label.year, kinds, label.x, height, 33)


def named(text: str, kinds: str, x: float, y: int, below: int) -> str:
    text = text.replace("&", "&amp;")  # the only sign in our names that SVG would misread
    return f'<text class="{kinds}" x="{x}%" y="{y}" dy="{below}" text-anchor="middle">{text}</text>'


def joined(parts: Iterable[str]) -> SafeString:
    return SafeString("".join(parts))
