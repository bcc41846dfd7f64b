"""In which months a line of the plan posts, and how much."""

from datetime import date
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ledger.calc.months import add_months, list_months
from planning.calc.plan_postings import PlanAmount, PlanItemSchedule, compute_plan_postings

JANUARY, DECEMBER = date(2024, 1, 1), date(2024, 12, 1)
YEAR = {"window_start": JANUARY, "window_end": DECEMBER}
HUNDRED = PlanAmount("fixed", Decimal(100))


def list_posted_amounts(item, **window):
    return [str(amount) for amount in compute_plan_postings(item, **window).values()]


def test_fixed_amount_posts_every_month_without_end():
    assert compute_plan_postings(PlanItemSchedule(JANUARY, HUNDRED), **YEAR) == dict.fromkeys(
        list_months(JANUARY, DECEMBER), Decimal(100)
    )


def test_item_with_frequency_zero_posts_once():
    item = PlanItemSchedule(date(2024, 3, 1), HUNDRED, frequency=0)
    assert compute_plan_postings(item, **YEAR) == {date(2024, 3, 1): 100}
    assert compute_plan_postings(item, window_start=date(2024, 4, 1), window_end=DECEMBER) == {}
    assert compute_plan_postings(item, window_start=JANUARY, window_end=date(2024, 2, 1)) == {}


def test_change_by_amount_adds_its_step_at_each_posting():
    item = PlanItemSchedule(JANUARY, PlanAmount("changeByAmount", Decimal("-50")), frequency=6)
    assert list_posted_amounts(item, window_start=JANUARY, window_end=date(2025, 1, 1)) == ["-50", "-100", "-150"]


def test_fixed_amount_ignores_relative_change():
    assert PlanAmount("fixed", Decimal(100), Decimal("0.1")).compute_posting_amount(2) == 100


def test_relative_change_compounds_at_each_posting():
    item = PlanItemSchedule(JANUARY, PlanAmount("relative", Decimal(1000), Decimal("0.1")), frequency=2)
    assert list_posted_amounts(item, window_start=JANUARY, window_end=date(2024, 5, 1)) == ["1000", "1100.0", "1210.00"]


@pytest.mark.parametrize(
    ("change", "expected"), [("-1", [100, 0, 0]), ("-2", [100, -100, 100]), ("0", [100, 100, 100])]
)
def test_relative_change_may_end_or_reverse_the_amount(change, expected):
    item = PlanItemSchedule(JANUARY, PlanAmount("relative", Decimal(100), Decimal(change)))
    assert list(compute_plan_postings(item, window_start=JANUARY, window_end=date(2024, 3, 1)).values()) == expected


def test_item_lasts_for_its_duration_in_months_at_any_frequency():
    assert list(compute_plan_postings(PlanItemSchedule(JANUARY, HUNDRED, frequency=3, duration=6), **YEAR)) == [
        JANUARY,
        date(2024, 4, 1),
    ]
    assert list(compute_plan_postings(PlanItemSchedule(JANUARY, HUNDRED, frequency=3, duration=7), **YEAR))[-1] == date(
        2024, 7, 1
    )
    assert list(compute_plan_postings(PlanItemSchedule(JANUARY, HUNDRED, duration=1), **YEAR)) == [JANUARY]


def test_item_does_not_post_before_its_month():
    assert compute_plan_postings(PlanItemSchedule(date(2025, 1, 1), HUNDRED), **YEAR) == {}


def test_old_item_postings_are_computed_for_distant_window():
    item = PlanItemSchedule(date(1, 1, 1), PlanAmount("changeByAmount", Decimal(1)))
    assert compute_plan_postings(item, window_start=JANUARY, window_end=JANUARY) == {JANUARY: 2023 * 12 + 1}


@given(
    amount_type=st.sampled_from(["fixed", "changeByAmount", "relative"]),
    frequency=st.integers(0, 13),
    duration=st.none() | st.integers(1, 60),
    starts_after=st.integers(-60, 60),
    length=st.integers(-3, 40),
)
@settings(max_examples=120)
def test_window_contains_its_share_of_all_postings(amount_type, frequency, duration, starts_after, length):
    item = PlanItemSchedule(JANUARY, PlanAmount(amount_type, Decimal(100), Decimal("0.05")), frequency, duration)
    first = add_months(JANUARY, starts_after)
    last = add_months(first, length)
    everything = compute_plan_postings(item, window_start=JANUARY, window_end=add_months(JANUARY, 120))
    window = compute_plan_postings(item, window_start=first, window_end=last)
    assert window == {month: amount for month, amount in everything.items() if first <= month <= last}


@pytest.mark.parametrize("wrong", [{"frequency": -1}, {"duration": 0}])
def test_invalid_item_schedule_is_rejected(wrong):
    with pytest.raises(ValueError, match=r"^A plan item steps"):
        PlanItemSchedule(JANUARY, HUNDRED, **wrong)


def test_unknown_amount_type_is_rejected():
    with pytest.raises(ValueError, match="seasonal"):
        PlanAmount("seasonal", Decimal(1))
