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


def test_a_fixed_amount_posts_every_month_without_end():
    assert compute_plan_postings(PlanItemSchedule(JANUARY, HUNDRED), **YEAR) == dict.fromkeys(
        list_months(JANUARY, DECEMBER), Decimal(100)
    )


def test_an_item_of_frequency_zero_posts_once():
    item = PlanItemSchedule(date(2024, 3, 1), HUNDRED, frequency=0)
    assert compute_plan_postings(item, **YEAR) == {date(2024, 3, 1): 100}
    assert compute_plan_postings(item, window_start=date(2024, 4, 1), window_end=DECEMBER) == {}
    assert compute_plan_postings(item, window_start=JANUARY, window_end=date(2024, 2, 1)) == {}


def test_a_step_is_added_at_each_posting_starting_from_it():
    item = PlanItemSchedule(JANUARY, PlanAmount("changeByAmount", Decimal("-50")), frequency=6)
    assert list_posted_amounts(item, window_start=JANUARY, window_end=date(2025, 1, 1)) == ["-50", "-100", "-150"]


def test_a_fixed_amount_does_not_change_whatever_stands_beside_it():
    assert PlanAmount("fixed", Decimal(100), Decimal("0.1")).compute_posting_amount(2) == 100


def test_a_relative_change_compounds_from_posting_to_posting():
    item = PlanItemSchedule(JANUARY, PlanAmount("relative", Decimal(1000), Decimal("0.1")), frequency=2)
    assert list_posted_amounts(item, window_start=JANUARY, window_end=date(2024, 5, 1)) == ["1000", "1100.0", "1210.00"]


@pytest.mark.parametrize(
    ("change", "expected"), [("-1", [100, 0, 0]), ("-2", [100, -100, 100]), ("0", [100, 100, 100])]
)
def test_a_relative_change_may_end_or_turn_the_amount(change, expected):
    item = PlanItemSchedule(JANUARY, PlanAmount("relative", Decimal(100), Decimal(change)))
    assert list(compute_plan_postings(item, window_start=JANUARY, window_end=date(2024, 3, 1)).values()) == expected


def test_an_item_lives_for_its_duration_in_months_whatever_its_frequency():
    assert list(compute_plan_postings(PlanItemSchedule(JANUARY, HUNDRED, frequency=3, duration=6), **YEAR)) == [
        JANUARY,
        date(2024, 4, 1),
    ]
    assert list(compute_plan_postings(PlanItemSchedule(JANUARY, HUNDRED, frequency=3, duration=7), **YEAR))[-1] == date(
        2024, 7, 1
    )
    assert list(compute_plan_postings(PlanItemSchedule(JANUARY, HUNDRED, duration=1), **YEAR)) == [JANUARY]


def test_nothing_posts_before_the_items_month():
    assert compute_plan_postings(PlanItemSchedule(date(2025, 1, 1), HUNDRED), **YEAR) == {}


def test_an_old_item_is_reached_without_counting_from_its_start():
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
def test_a_window_holds_its_part_of_all_postings(amount_type, frequency, duration, starts_after, length):
    item = PlanItemSchedule(JANUARY, PlanAmount(amount_type, Decimal(100), Decimal("0.05")), frequency, duration)
    first = add_months(JANUARY, starts_after)
    last = add_months(first, length)
    everything = compute_plan_postings(item, window_start=JANUARY, window_end=add_months(JANUARY, 120))
    window = compute_plan_postings(item, window_start=first, window_end=last)
    assert window == {month: amount for month, amount in everything.items() if first <= month <= last}


@pytest.mark.parametrize("wrong", [{"frequency": -1}, {"duration": 0}])
def test_an_item_that_cannot_be_is_refused(wrong):
    with pytest.raises(ValueError, match=r"^A plan item steps"):
        PlanItemSchedule(JANUARY, HUNDRED, **wrong)


def test_an_unknown_amount_type_is_refused():
    with pytest.raises(ValueError, match="seasonal"):
        PlanAmount("seasonal", Decimal(1))
