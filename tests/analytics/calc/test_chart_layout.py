"""Where the parts of charts lie, and how amounts are written on them."""

import doctest
import itertools
import re
from decimal import Decimal

import pytest
from babel.numbers import format_decimal
from hypothesis import given
from hypothesis import strategies as st

import companies.pages.amount_formats
from analytics.calc import chart_layout
from analytics.calc.axis_scales import Scale, build_scale, compute_nice_step, compute_ticks
from analytics.calc.chart_layout import BarSegment, ChartColumn, Tick
from analytics.charts import amount_format as written
from analytics.charts import svg
from analytics.charts.amount_format import (
    format_compact_amount,
    format_full_amount,
    format_rounded_amount,
    format_share,
)
from ledger.money.calc.money import get_minor_units

amounts = st.decimals(min_value=-(10**18), max_value=10**18, places=2)
TOP, BOTTOM = chart_layout.HEADROOM_PX, chart_layout.PLOT_HEIGHT_PX - chart_layout.HEADROOM_PX


def to_decimal(text):
    return Decimal(text)


# ---------------------------------------------------------------------------------------------- scales


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        pytest.param([], "0 1", id="no values"),
        pytest.param(["0", "0"], "0 1", id="zero data"),
        pytest.param(["0.03"], "0 0.01 0.02 0.03", id="a few cents"),
        pytest.param(["97"], "0 20 40 60 80 100", id="just below a round number"),
        pytest.param(["100"], "0 20 40 60 80 100", id="a round number"),
        pytest.param(["-30", "12"], "-30 -20 -10 0 10 20", id="both signs"),
        pytest.param(["-1200"], "-1250 -1000 -750 -500 -250 0", id="negative only"),
        pytest.param(["999999999999999.9999"], "0 200000000000000 400000000000000 600000000000000 800000000000000 "
                     "1000000000000000", id="the largest amount"),
    ],
)  # fmt: skip
def test_axis_ticks_are_round_and_span_zero_and_all_values(values, expected):
    assert [str(tick) for tick in compute_ticks(map(to_decimal, values))] == expected.split()


@pytest.mark.parametrize(
    ("span", "step"),
    [("1", "1"), ("5", "1"), ("7", "2"), ("12", "5"), ("11", "5"), ("45", "10"), ("110", "25"), ("1200000", "250000")],
)
def test_tick_step_is_whole_for_currency_without_decimals(span, step):
    assert compute_nice_step(to_decimal(span), smallest=to_decimal(1)) == to_decimal(step)


@given(st.lists(amounts, max_size=30))
def test_axis_ticks_are_evenly_spaced_and_at_most_eight(values):
    ticks = compute_ticks(values)
    assert ticks[0] <= min([*values, 0])
    assert ticks[-1] >= max([*values, 0])
    assert 0 in ticks
    assert len({after - before for before, after in itertools.pairwise(ticks)}) == 1
    assert 2 <= len(ticks) <= 8


def test_chart_heights_are_rounded_to_tenth_of_pixel():
    scale = Scale(to_decimal(0), to_decimal(3), top=10, bottom=210)
    assert (
        [scale.get_position(to_decimal(1)), scale.get_position(to_decimal(2))],
        scale.get_positions([to_decimal(1), to_decimal(2)]),
    ) == (
        [143.3, 76.7],
        [143.3, 76.7],
    )


# ---------------------------------------------------------------------------------------------- columns


def test_column_chart_splits_width_evenly_and_bars_use_two_thirds():
    two = [[("in", to_decimal(20))], [("out", to_decimal(-10))]]
    drawn = chart_layout.build_column_chart([two, [[("in", to_decimal("0.5"))]], []], smallest=to_decimal(1))
    assert drawn.ticks == [
        Tick(to_decimal(-10), 222.0),
        Tick(to_decimal(0), 151.3),
        Tick(to_decimal(10), 80.7),
        Tick(to_decimal(20), 10.0),
    ]
    assert drawn.zero == 151.3
    assert drawn.columns == [
        ChartColumn(
            x=0.0,
            width=33.333,
            middle=16.667,
            segments=[
                BarSegment("in", x=5.333, width=10.653, y=10.0, height=141.3),
                BarSegment("out", x=17.347, width=10.653, y=151.3, height=70.7),
            ],
        ),
        ChartColumn(
            x=33.333,
            width=33.333,
            middle=50.0,
            segments=[BarSegment("in", x=38.667, width=22.667, y=147.8, height=3.5)],
        ),
        ChartColumn(x=66.667, width=33.333, middle=83.333, segments=[]),
    ]


def test_stack_extent_sums_negative_and_positive_parts_separately():
    stack = [("a", to_decimal("0.5")), ("b", to_decimal("-0.25")), ("c", to_decimal(2)), ("d", to_decimal(-1))]
    assert chart_layout.compute_stack_extent(stack) == (to_decimal("-1.25"), to_decimal("2.5"))
    assert chart_layout.compute_stack_extent(stack[:1]) == (0, to_decimal("0.5"))


def test_chart_ticks_are_not_finer_than_currency_minor_unit():
    bars, path, steps = ([[("a", to_decimal(1))]], [to_decimal(1)], ("a", to_decimal(1)))
    assert [tick.value for tick in chart_layout.build_column_chart([bars], smallest=to_decimal(1)).ticks] == [0, 1]
    assert [tick.value for tick in chart_layout.build_line_chart([path], smallest=to_decimal(1)).ticks] == [0, 1]
    assert [
        tick.value for tick in chart_layout.build_waterfall_chart(steps, [], "b", smallest=to_decimal(1)).columns.ticks
    ] == [0, 1]


def test_stacked_bar_segments_stack_up_and_negative_ones_hang_below_zero():
    drawn = chart_layout.build_column_chart(
        [[[("a", to_decimal(30)), ("b", to_decimal(20)), ("c", to_decimal(-10)), ("d", to_decimal(-40))]]]
    )
    a, b, c, d = drawn.columns[0].segments
    assert a.y + a.height == drawn.zero == c.y
    assert b.y + b.height == a.y
    assert d.y == round(c.y + c.height, 1)
    assert d.height == pytest.approx(4 * c.height, abs=0.5)


def test_bars_of_a_column_are_side_by_side_within_column_width():
    drawn = chart_layout.build_column_chart([[[("a", to_decimal(1))], [("b", to_decimal(1))]]] * 12)
    for index, column in enumerate(drawn.columns):
        first, second = column.segments
        assert index * 100 / 12 <= first.x < first.x + first.width <= second.x + 0.01
        assert second.x + second.width <= (index + 1) * 100 / 12 + 0.01
        assert column.middle == pytest.approx((index + 0.5) * 100 / 12, abs=0.01)


def test_column_chart_omits_zero_values_and_keeps_small_values_visible():
    drawn = chart_layout.build_column_chart(
        [[[("nothing", to_decimal(0)), ("little", to_decimal("0.01")), ("much", to_decimal(10**9))]]]
    )
    assert [(part.series, part.height >= chart_layout.MIN_BAR_HEIGHT_PX) for part in drawn.columns[0].segments] == [
        ("little", True),
        ("much", True),
    ]


def test_column_chart_of_zeros_has_axis_but_no_bars():
    drawn = chart_layout.build_column_chart([[[("a", to_decimal(0))]], [[("a", to_decimal(0))]]])
    assert [part for column in drawn.columns for part in column.segments] == []
    assert drawn.zero == BOTTOM
    assert chart_layout.build_column_chart([]).columns == []


@given(st.lists(st.lists(amounts, min_size=1, max_size=4), min_size=1, max_size=24))
def test_bar_segments_stay_inside_plot_area(bars):
    drawn = chart_layout.build_column_chart([[[(str(n), value) for n, value in enumerate(stack)]] for stack in bars])
    for column in drawn.columns:
        for part in column.segments:
            assert part.y >= TOP - 1.1
            assert part.y + part.height <= BOTTOM + 1.1
            assert part.x >= 0
            assert part.x + part.width <= 100.01


# ---------------------------------------------------------------------------------------------- lines


def parse_coordinates(path):
    return [(float(x), float(y)) for x, y in re.findall(r"[ML]([\d.]+) (-?[\d.]+)", path)]


def draw_line(*values):
    return chart_layout.build_line_chart([[to_decimal(value) for value in values]])


def test_line_chart_spans_full_width_through_every_value():
    (drawn,) = draw_line(0, 50, 100).lines
    assert parse_coordinates(drawn.path) == [(0, BOTTOM), (500, (TOP + BOTTOM) / 2), (1000, TOP)]
    assert drawn.area.startswith(drawn.path)
    assert drawn.area.endswith("Z")
    assert drawn.last_y == TOP


def test_line_chart_lines_share_one_scale():
    above, below = chart_layout.build_line_chart(
        [[to_decimal(100), to_decimal(100)], [to_decimal(-100), to_decimal(0)]]
    ).lines
    assert parse_coordinates(above.path) == [(0, TOP), (1000, TOP)]
    assert parse_coordinates(below.path) == [(0, BOTTOM), (1000, (TOP + BOTTOM) / 2)]


def test_line_chart_of_single_point_is_horizontal():
    assert draw_line(10).lines[0].path == "M0 10L1000 10"


def test_line_chart_area_below_zero_closes_at_zero_line():
    drawn = draw_line(-10, 10)
    assert drawn.zero == (TOP + BOTTOM) / 2
    assert f"L1000 {drawn.zero:.0f}L0 {drawn.zero:.0f}Z" in drawn.lines[0].area


def test_line_chart_without_values_is_empty():
    (drawn,) = draw_line().lines
    assert (drawn.path, drawn.area) == ("", "")


@given(st.lists(amounts, min_size=1, max_size=20))
def test_scale_gives_same_heights_for_floats_as_for_decimals(values):
    marks = compute_ticks(values)
    scale = build_scale(marks, top=TOP, bottom=BOTTOM)
    assert scale.get_positions(values) == pytest.approx([scale.get_position(value) for value in values], abs=0.11)


# ---------------------------------------------------------------------------------------------- waterfalls


@given(st.integers(0, 10**9), st.lists(st.integers(-(10**8), 10**8), min_size=1, max_size=8))
def test_waterfall_step_starts_where_previous_step_ended(first, changes):
    steps = [(str(number), to_decimal(change)) for number, change in enumerate(changes)]
    drawn = chart_layout.build_waterfall_chart(("start", to_decimal(first)), steps, "end")
    scale, level = drawn.columns.scale, to_decimal(first)
    for column, (_, change) in zip(drawn.columns.columns[1:-1], steps, strict=True):
        before, level = level, level + change
        if not change:
            assert column.segments == []
            continue
        (part,) = column.segments
        assert part.y == scale.get_position(max(before, level))
        assert part.y + part.height == pytest.approx(scale.get_position(min(before, level)), abs=1.1)
    for part in drawn.columns.columns[-1].segments:
        assert {part.y, round(part.y + part.height, 1)} >= {scale.get_position(max(level, to_decimal(0)))}


def test_waterfall_columns_share_width_evenly():
    drawn = chart_layout.build_waterfall_chart(("start", to_decimal(7)), [("gone", to_decimal(-2))], "end").columns
    assert drawn.ticks == [
        Tick(to_decimal(0), 222.0),
        Tick(to_decimal(2), 169.0),
        Tick(to_decimal(4), 116.0),
        Tick(to_decimal(6), 63.0),
        Tick(to_decimal(8), 10.0),
    ]
    assert drawn.zero == 222.0
    assert drawn.columns == [
        ChartColumn(0.0, 33.333, 16.667, [BarSegment("start", x=5.333, width=22.667, y=36.5, height=185.5)]),
        ChartColumn(33.333, 33.333, 50.0, [BarSegment("gone", x=38.667, width=22.667, y=36.5, height=53.0)]),
        ChartColumn(66.667, 33.333, 83.333, [BarSegment("end", x=72.0, width=22.667, y=89.5, height=132.5)]),
    ]


def test_waterfall_connector_lines_join_adjacent_columns():
    drawn = chart_layout.build_waterfall_chart(("start", to_decimal(10)), [("new", to_decimal(10))], "end")
    assert drawn.levels == "M280 116L386.7 116M613.3 10L720 10"
    first, second = re.findall(r"M([\d.]+) ([\d.]+)L([\d.]+) ([\d.]+)", drawn.levels)
    assert first[1] == first[3] == "116"
    assert second[1] == second[3] == "10"
    assert float(first[0]) < 1000 / 3 < float(first[2])


def test_line_over_column_chart_passes_through_column_middles():
    drawn = chart_layout.build_column_chart([[[("a", to_decimal(10))]], [[("a", to_decimal(-10))]]])
    assert parse_coordinates(chart_layout.build_points_path([to_decimal(10), to_decimal(-10)], drawn)) == [
        (250, TOP),
        (750, BOTTOM),
    ]
    assert chart_layout.build_points_path([], chart_layout.build_column_chart([])) == ""
    with pytest.raises(ValueError, match="shorter"):
        chart_layout.build_points_path([to_decimal(10)], drawn)


# ---------------------------------------------------------------------------------------------- amounts


@pytest.mark.parametrize(
    ("amount", "currency", "expected"),
    [
        ("0", "EUR", "€0"),
        ("12000", "EUR", "€12k"),
        ("-4250", "USD", "−$4.25k"),
        ("999499", "EUR", "€999k"),
        ("999500", "EUR", "€1M"),
        ("1234567", "JPY", "¥1.23M"),
        ("0.5", "GBP", "£0.50"),
        ("950", "CHF", "CHF\u202f950"),
        ("2500000000", "EUR", "€2.5B"),
        ("999999999999999.99", "EUR", "€1,000T"),
    ],
)
def test_compact_amounts_have_three_digits_and_a_unit(amount, currency, expected):
    assert format_compact_amount(to_decimal(amount), currency) == expected


def test_table_amounts_use_decimals_of_their_currency():
    assert (format_full_amount(to_decimal("-1234.5"), "EUR"), format_full_amount(to_decimal(1234), "JPY")) == (
        "−1,234.50",
        "1,234",
    )


def test_rounded_amounts_round_half_up_and_zero_has_no_sign():
    assert (
        format_rounded_amount(to_decimal("2.5"), "EUR"),
        format_rounded_amount(to_decimal("-0.4"), "EUR"),
        format_rounded_amount(to_decimal(0), "EUR", plus=True),
    ) == ("€3", "€0", "€0")


@given(amounts, st.sampled_from(["EUR", "JPY", "USD", "ISK", "CHF"]))
def test_amount_digit_grouping_matches_babel(amount, currency):
    decimals = get_minor_units(currency)
    rounded_amount = amount.quantize(to_decimal(1).scaleb(-decimals), rounding="ROUND_HALF_UP")
    theirs = format_decimal(rounded_amount, f"#,##0{'.' + decimals * '0' if decimals else ''}", locale="en")
    assert format_full_amount(amount, currency).replace("\u2212", "-") == theirs.removeprefix(
        "" if rounded_amount else "-"
    )


@pytest.mark.parametrize(
    ("currency", "expected"),
    [("EUR", "€5"), ("AUD", "A$5"), ("ILS", "₪5"), ("HUF", "HUF\u202f5"), ("SEK", "SEK\u202f5")],
)
def test_currency_symbols_follow_locale_and_letter_codes_have_a_space(currency, expected):
    assert (format_rounded_amount(to_decimal(5), currency), format_compact_amount(to_decimal(5), currency)) == (
        expected,
        expected,
    )


def test_amount_format_doctests_pass():
    assert [doctest.testmod(each).failed for each in (written, companies.pages.amount_formats)] == [0, 0]
    assert format_share(to_decimal("0.5")) == "50.0 %"


@pytest.mark.parametrize(("y", "above"), [(30, False), (250, False), (310, True)])
def test_lowest_point_label_is_below_line_if_there_is_room(y, above):
    drawn = svg.draw_marks([svg.PointMark(x=50, y=y, text="Lowest")], height=332)
    assert (int(re.search(r'dy="(-?\d+)"', drawn)[1]) < 0) is above
