"""The colours of charts: told apart by every kind of eye, and from what lies behind them."""

import itertools
import re
from pathlib import Path

import pytest
from django.conf import settings

from analytics.charts import profit_and_loss_sections, recurring_revenue_sections
from tests.color_distance import EYE_MATRICES, compute_ciede2000, compute_color_distance, compute_contrast

MIN_COLOR_DISTANCE = 11.0  # CIEDE2000; about five times what is just noticed side by side
MIN_CONTRAST = 3.0  # WCAG 1.4.11, of graphics
LIGHT, DARK = "light", "dark"
SERIES_OF_CHART = {  # what is seen in one chart; hatched and dotted series differ by their pattern
    "cash balance": ["cash", "nonCash"],
    "cash flow": ["inflow", "outflow"],
    "revenue and expenses": [
        key.series for key in (*profit_and_loss_sections.REVENUE_KEYS, *profit_and_loss_sections.EXPENSE_KEYS)
    ],
    "movements": [
        recurring_revenue_sections.LEVEL_SERIES,
        *(key.series for key in recurring_revenue_sections.MOVEMENT_KEYS),
    ],
}
SHEET = (Path(settings.ROOT) / "static" / "site.css").read_text()
PAGES, _, CHARTS = SHEET.partition("/* charts: ")  # each with the names of its colours


def parse_color_names(text: str) -> dict[str, str]:
    return dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6});", text))


def list_colors(scheme: str) -> dict[str, str]:
    """Name -> colour; the dark scheme changes some of the light ones."""
    result: dict[str, str] = {}
    for text in (PAGES, CHARTS):
        light, _, rest = text.partition("@media (prefers-color-scheme: dark)")
        result |= parse_color_names(light) | (parse_color_names(rest.partition("\n}\n")[0]) if scheme == DARK else {})
    return result


def find_fill_color(series: str, scheme: str) -> str:
    """The colour in which bars and lines of a series are drawn."""
    rules = re.findall(r"^([^\n{]+) \{ fill: var\(--([\w-]+)\); \}", CHARTS, flags=re.MULTILINE)
    (name,) = {name for selectors, name in rules if f".s-{series}" in selectors.split(", ")}
    return list_colors(scheme)[name]


def test_ciede2000_matches_published_color_pairs():
    """Three of the pairs of Sharma, Wu and Dalal, table 1."""
    for one, other, expected in (
        ((50, 2.6772, -79.7751), (50, 0, -82.7485), 2.0425),
        ((50, -1, 2), (50, 0, 0), 2.3669),
        ((22.7233, 20.0904, -46.6940), (23.0331, 14.9730, -42.5619), 2.0373),
    ):
        assert compute_ciede2000(one, other) == pytest.approx(expected, abs=1e-4)


def test_deuteranopia_simulation_reduces_red_green_distance():
    """The simulations do what they are for."""
    assert compute_color_distance("#c05050", "#6f7f2f", "usual") > 3 * compute_color_distance(
        "#c05050", "#6f7f2f", "deuteranopia"
    )


def test_chart_series_colors_are_distinguishable_in_pairs():
    for scheme in [LIGHT, DARK]:
        for eye in EYE_MATRICES:
            for chart in SERIES_OF_CHART:
                pairs = itertools.combinations(SERIES_OF_CHART[chart], 2)
                near = {
                    pair: round(between, 1)
                    for pair in pairs
                    if (
                        between := compute_color_distance(
                            find_fill_color(pair[0], scheme), find_fill_color(pair[1], scheme), eye
                        )
                    )
                    < MIN_COLOR_DISTANCE
                }
                assert near == {}, (scheme, eye, chart)


def test_chart_series_colors_contrast_with_card_background():
    for scheme in [LIGHT, DARK]:
        for chart in SERIES_OF_CHART:
            card = list_colors(scheme)["surface"]
            faint = [
                each
                for each in SERIES_OF_CHART[chart]
                if compute_contrast(find_fill_color(each, scheme), card) < MIN_CONTRAST
            ]
            assert faint == [], (scheme, chart)
