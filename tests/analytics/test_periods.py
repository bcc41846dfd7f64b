"""Months, quarters and years of the calendar."""

from datetime import date

import pytest

from analytics.calc.periods import period_of


@pytest.mark.parametrize(
    ("interval", "firsts"),
    [
        ("month", [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]),
        ("quarter", [1, 1, 1, 4, 4, 4, 7, 7, 7, 10, 10, 10]),
        ("year", [1] * 12),
    ],
)
def test_a_month_belongs_to_the_period_that_begins_at_or_before_it(interval, firsts):
    assert [period_of(date(2024, month, 1), interval) for month in range(1, 13)] == [
        date(2024, first, 1) for first in firsts
    ]
