"""Axes of days, weeks and months, and what their points are worth."""

from datetime import date, timedelta
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analytics.calc.time_series import get_bucket_start, list_bucket_starts, sum_by_bucket

DAYS = st.dates(date(2020, 1, 1), date(2026, 12, 31))
INTERVALS = st.sampled_from(["day", "week", "month"])


@pytest.mark.parametrize(
    ("day", "interval", "first"),
    [
        (date(2024, 1, 7), "day", date(2024, 1, 7)),
        (date(2024, 1, 7), "week", date(2024, 1, 1)),
        (date(2024, 1, 8), "week", date(2024, 1, 8)),
        (date(2025, 1, 1), "week", date(2024, 12, 30)),
        (date(2024, 2, 29), "month", date(2024, 2, 1)),
        (date.min, "week", date.min),
        (date.max, "week", date(9999, 12, 27)),
    ],
)
def test_bucket_is_named_by_first_day_and_weeks_start_on_monday(day, interval, first):
    assert get_bucket_start(day, interval) == first


@given(start=DAYS, length=st.integers(0, 800), interval=INTERVALS)
@settings(max_examples=80)
def test_bucket_axis_covers_exactly_the_days_of_the_window(start, length, interval):
    days = [start + timedelta(days=offset) for offset in range(length + 1)]
    assert list_bucket_starts(start, days[-1], interval) == sorted({get_bucket_start(day, interval) for day in days})


@pytest.mark.parametrize("interval", ["day", "week", "month"])
def test_bucket_axis_is_empty_for_window_ending_before_start(interval):
    assert list_bucket_starts(date(2024, 1, 2), date(2024, 1, 1), interval) == []


def test_bucket_axis_reaches_last_calendar_day():
    assert list_bucket_starts(date(9999, 12, 20), date.max, "week") == [date(9999, 12, 20), date(9999, 12, 27)]
    assert list_bucket_starts(date(9999, 11, 20), date.max, "month") == [date(9999, 11, 1), date(9999, 12, 1)]


def test_bucket_axis_rejects_unknown_interval():
    with pytest.raises(ValueError, match="quarter"):
        list_bucket_starts(date(2024, 1, 1), date(2024, 1, 2), "quarter")


AMOUNTS = st.decimals(0, 10**6, places=2)


@given(
    flows=st.lists(st.tuples(DAYS, AMOUNTS, AMOUNTS), max_size=30),
    start=DAYS,
    length=st.integers(0, 800),
    interval=INTERVALS,
)
@settings(max_examples=80)
def test_bucket_sums_equal_flows_within_window(flows, start, length, interval):
    end = start + timedelta(days=length)
    sums = sum_by_bucket(flows, start=start, end=end, interval=interval)
    assert list(sums) == list_bucket_starts(start, end, interval)
    for side in (0, 1):
        within = (amounts[side] for day, *amounts in flows if start <= day <= end)
        assert sum(result[side] for result in sums.values()) == sum(within)


def test_bucket_sums_exclude_flows_outside_window_in_shared_bucket():
    start, end = date(2024, 1, 10), date(2024, 2, 20)
    days = [date(2024, 1, 9), start, end, date(2024, 2, 21)]
    flows = [(day, Decimal(2**place), Decimal(place)) for place, day in enumerate(days)]
    sums = sum_by_bucket(flows, start=start, end=end, interval="month")
    assert sums == {date(2024, 1, 1): (2, 1), date(2024, 2, 1): (4, 2)}
