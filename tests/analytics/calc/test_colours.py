"""The colours of charts: told apart by every kind of eye, and from what lies behind them."""

import itertools
import re
from pathlib import Path

import pytest
from django.conf import settings

from analytics.overview import movements, results
from tests.colours import EYES, apart, contrast, distance

LEAST = 11.0  # CIEDE2000; about five times what is just noticed side by side
LEAST_CONTRAST = 3.0  # WCAG 1.4.11, of graphics
LIGHT, DARK = "light", "dark"
TOGETHER = {  # what is seen in one chart; hatched and dotted series differ by their pattern
    "cash balance": ["cash", "nonCash"],
    "cash flow": ["inflow", "outflow"],
    "revenue and expenses": [key.series for key in (*results.REVENUE, *results.EXPENSES)],
    "movements": [movements.LEVEL, *(key.series for key in movements.KEYS)],
}
SHEET = (Path(settings.ROOT) / "static" / "site.css").read_text()
PAGES, _, CHARTS = SHEET.partition("/* charts: ")  # each with the names of its colours


def names(text: str) -> dict[str, str]:
    return dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6});", text))


def colours(scheme: str) -> dict[str, str]:
    """Name -> colour; the dark scheme changes some of the light ones."""
    found: dict[str, str] = {}
    for text in (PAGES, CHARTS):
        light, _, rest = text.partition("@media (prefers-color-scheme: dark)")
        found |= names(light) | (names(rest.partition("\n}\n")[0]) if scheme == DARK else {})
    return found


def fill(series: str, scheme: str) -> str:
    """The colour in which bars and lines of a series are drawn."""
    rules = re.findall(r"^([^\n{]+) \{ fill: var\(--([\w-]+)\); \}", CHARTS, flags=re.MULTILINE)
    (name,) = {name for selectors, name in rules if f".s-{series}" in selectors.split(", ")}
    return colours(scheme)[name]


def test_distances_are_those_of_the_published_pairs():
    """Three of the pairs of Sharma, Wu and Dalal, table 1."""
    for one, other, expected in (
        ((50, 2.6772, -79.7751), (50, 0, -82.7485), 2.0425),
        ((50, -1, 2), (50, 0, 0), 2.3669),
        ((22.7233, 20.0904, -46.6940), (23.0331, 14.9730, -42.5619), 2.0373),
    ):
        assert distance(one, other) == pytest.approx(expected, abs=1e-4)


def test_red_and_green_of_one_lightness_are_hard_to_tell_apart_for_some():
    """The simulations do what they are for."""
    assert apart("#c05050", "#6f7f2f", "usual") > 3 * apart("#c05050", "#6f7f2f", "deuteranopia")


@pytest.mark.parametrize("scheme", [LIGHT, DARK])
@pytest.mark.parametrize("eye", EYES)
@pytest.mark.parametrize("chart", TOGETHER)
def test_any_two_series_of_a_chart_can_be_told_apart(chart, eye, scheme):
    pairs = itertools.combinations(TOGETHER[chart], 2)
    near = {
        pair: round(between, 1)
        for pair in pairs
        if (between := apart(fill(pair[0], scheme), fill(pair[1], scheme), eye)) < LEAST
    }
    assert near == {}


@pytest.mark.parametrize("scheme", [LIGHT, DARK])
@pytest.mark.parametrize("chart", TOGETHER)
def test_every_series_stands_out_from_its_card(chart, scheme):
    card = colours(scheme)["surface"]
    faint = [each for each in TOGETHER[chart] if contrast(fill(each, scheme), card) < LEAST_CONTRAST]
    assert faint == []
