"""Calendar months."""

import calendar
from datetime import date

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rest_framework.exceptions import ValidationError

from companies.api.fields import MonthField
from ledger.calc.months import (
    add_months,
    count_days_in_month,
    count_months_between,
    format_month,
    get_first_day_of_month,
    get_last_day_of_month,
    list_months,
)

DAYS = st.dates(min_value=date(1900, 1, 1), max_value=date(2200, 12, 31))


@pytest.mark.parametrize("year", [1900, 2000, 2023, 2024, 2100])
def test_months_have_calendar_lengths(year):
    assert [count_days_in_month(year, month) for month in range(1, 13)] == [
        calendar.monthrange(year, month)[1] for month in range(1, 13)
    ]


@given(day=DAYS, months=st.integers(-600, 600))
@settings(max_examples=60)
def test_adding_months_keeps_day_or_uses_last_day_of_month(day, months):
    moved = add_months(day, months)
    assert count_months_between(day, moved) == months
    assert moved.day == min(day.day, get_last_day_of_month(moved).day)


@given(day=DAYS)
@settings(max_examples=30)
def test_month_bounds_enclose_every_day_of_month(day):
    assert get_first_day_of_month(day) <= day <= get_last_day_of_month(day)
    assert get_first_day_of_month(day).day == 1
    assert add_months(get_first_day_of_month(day), 1).toordinal() - 1 == get_last_day_of_month(day).toordinal()


def test_month_list_includes_both_ends():
    assert list_months(date(2024, 11, 30), date(2025, 1, 1)) == [date(2024, 11, 1), date(2024, 12, 1), date(2025, 1, 1)]


def test_month_list_with_end_before_start_is_empty():
    assert list_months(date(2024, 2, 1), date(2024, 1, 31)) == []


def test_month_field_round_trips():
    assert format_month(MonthField().run_validation("2024-06")) == "2024-06"


@pytest.mark.parametrize("text", ["2024-6", "2024-13", "2024-06-01", "202406", "2024/06", "", "20240-6", "2024-W1"])
def test_month_field_accepts_only_year_and_month(text):
    with pytest.raises(ValidationError):
        MonthField().run_validation(text)
