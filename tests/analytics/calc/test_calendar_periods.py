"""Months, quarters and years of the calendar."""

from datetime import date

import pytest

from analytics.calc.calendar_periods import get_period_start
from analytics.report_period import ReportPeriod


@pytest.mark.parametrize(
    ("interval", "firsts"),
    [
        ("month", [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]),
        ("quarter", [1, 1, 1, 4, 4, 4, 7, 7, 7, 10, 10, 10]),
        ("year", [1] * 12),
    ],
)
def test_period_start_is_first_month_of_its_calendar_period(interval, firsts):
    assert [get_period_start(date(2024, month, 1), interval) for month in range(1, 13)] == [
        date(2024, first, 1) for first in firsts
    ]


@pytest.mark.parametrize(
    ("first", "last", "comparison", "compared"),
    [
        ("2024-05-01", "2024-05-31", "previousPeriod", ("2024-04-01", "2024-04-22")),
        ("2024-05-01", "2024-12-31", "previousYear", ("2023-05-01", "2023-05-22")),
        ("2024-03-01", "2024-04-30", "previousPeriod", ("2024-01-01", "2024-02-29")),
        ("2024-02-01", "2024-02-29", "previousPeriod", ("2024-01-01", "2024-01-31")),
        ("2023-02-01", "2023-02-28", "previousYear", ("2022-02-01", "2022-02-28")),
        ("2024-05-02", "2024-05-11", "previousPeriod", ("2024-04-22", "2024-05-01")),
        ("2024-05-01", "2024-05-11", "previousPeriod", ("2024-04-20", "2024-04-30")),
    ],
    ids=["to today", "a year before", "two months", "a short month", "a year before it", "days", "days from a first"],
)
def test_comparison_period_matches_by_whole_months_or_equal_number_of_days(first, last, comparison, compared):
    result = ReportPeriod(
        date.fromisoformat(first), date.fromisoformat(last), date(2024, 5, 22), None, comparison
    ).compared
    assert result == tuple(map(date.fromisoformat, compared))
