"""What the prices of a subscription bill, day by day."""

from datetime import date, timedelta
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analytics.calc.billing import PriceEvent, list_billings


def build_event(day, amount, interval="month", count=1):
    return PriceEvent(date.fromisoformat(day), Decimal(amount), "EUR", interval, count)


def bill(events, start="2024-01-01", end="2024-12-31"):
    billings = list_billings(events, start=date.fromisoformat(start), end=date.fromisoformat(end))
    return [(f"{billing.day:%m-%d}", int(billing.amount)) for billing in billings]


@pytest.mark.parametrize(
    ("events", "billed"),
    [
        pytest.param(
            [build_event("2024-10-31", 100)], [("10-31", 100), ("11-30", 100), ("12-31", 100)], id="last days of months"
        ),
        pytest.param(
            [build_event("2024-09-15", 100), build_event("2024-11-20", 150)],
            [("09-15", 100), ("10-15", 100), ("11-15", 100), ("12-15", 150)],
            id="a new price counts from the next interval",
        ),
        pytest.param(
            [build_event("2024-09-15", 100), build_event("2024-11-15", 0)],
            [("09-15", 100), ("10-15", 100)],
            id="an end on a billing day",
        ),
        pytest.param(
            [build_event("2024-09-15", 100), build_event("2024-10-01", 0), build_event("2024-11-20", 90)],
            [("09-15", 100), ("11-20", 90), ("12-20", 90)],
            id="a resumed subscription starts again",
        ),
        pytest.param(
            [build_event("2024-09-15", 100), build_event("2024-11-20", 1000, "year")],
            [("09-15", 100), ("10-15", 100), ("11-15", 100), ("11-20", 1000)],
            id="a new interval starts on its day",
        ),
        pytest.param(
            [build_event("2024-10-05", 100), build_event("2024-11-10", 0), build_event("2024-11-10", 120)],
            [("10-05", 100), ("11-05", 100), ("12-05", 120)],
            id="the later of two events on a day counts",
        ),
        pytest.param([build_event("2022-03-15", 1200, "year")], [("03-15", 1200)], id="yearly in its renewal month"),
        pytest.param(
            [build_event("2023-11-01", 300, "month", 3)],
            [("02-01", 300), ("05-01", 300), ("08-01", 300), ("11-01", 300)],
            id="quarterly",
        ),
        pytest.param(
            [build_event("2024-12-10", 7, "week")],
            [("12-10", 7), ("12-17", 7), ("12-24", 7), ("12-31", 7)],
            id="weekly",
        ),
        pytest.param([build_event("2025-01-01", 100)], [], id="not started"),
    ],
)
def test_prices_bill_on_the_first_day_of_each_interval(events, billed):
    assert bill(events) == billed


@given(
    days=st.lists(st.integers(0, 900), min_size=1, max_size=6),
    amounts=st.lists(st.integers(0, 3), min_size=6, max_size=6),
    intervals=st.lists(st.sampled_from([("month", 1), ("year", 1), ("week", 2), ("month", 3)]), min_size=6, max_size=6),
    cut=st.integers(0, 1200),
)
def test_billings_of_two_windows_are_those_of_both(days, amounts, intervals, cut):
    first, last = date(2022, 1, 1), date(2025, 6, 30)
    events = [
        PriceEvent(first + timedelta(days=day), Decimal(amount), "EUR", *interval)
        for day, amount, interval in zip(sorted(days), amounts, intervals, strict=False)
    ]
    middle = first + timedelta(days=cut)
    both = list_billings(events, start=first, end=last)
    assert both == [
        *list_billings(events, start=first, end=middle),
        *list_billings(events, start=middle + timedelta(days=1), end=last),
    ]
    assert [billing.day for billing in both] == sorted(billing.day for billing in both)
