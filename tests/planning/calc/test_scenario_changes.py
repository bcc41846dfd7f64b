"""Changes of scenarios on single planned transactions and plan items, by hand."""

import datetime as dt
from decimal import Decimal
from uuid import UUID

import pytest

from ledger.money.calc.money import round_half_up
from planning.calc.plan_postings import PlanAmount, compute_plan_postings
from planning.calc.recurrence import RecurrenceRule, expand_occurrences
from planning.calc.scenario_changes import (
    Change,
    DayWindow,
    PlannedState,
    apply_change,
    find_contradicting_changes,
    find_last_rule_day,
    scale_amount,
)
from planning.calc.scenario_plan import PlanItemState, apply_change_to_items

PLAN, OTHER, CATEGORY = UUID(int=1), UUID(int=2), UUID(int=3)
WINDOW = DayWindow(dt.date(2026, 1, 1), dt.date(2036, 1, 1))
YEAR = {"window_start": dt.date(2026, 1, 1), "window_end": dt.date(2026, 12, 31)}
MONTHLY = RecurrenceRule(dt.date(2026, 1, 31), "month")


def build_state(rule=MONTHLY, overrides=None, settled=(), **values):
    return PlannedState(PLAN, rule, Decimal(100), "EUR", overrides or {}, settled_days=frozenset(settled), **values)


def list_amounts(state):
    """(date, amount) of what is expected in the year."""
    return [
        (each.date.strftime("%m-%d"), str(state.amount if each.amount_value is None else each.amount_value))
        for each in expand_occurrences(state.rule, state.overrides, **YEAR)
        if not each.skipped
    ]


@pytest.mark.parametrize(
    ("amount", "percent", "currency", "scaled"),
    [
        ("0.05", "10", "EUR", "0.06"),
        ("-0.05", "10", "EUR", "-0.06"),
        ("5", "10", "JPY", "6"),
        ("12.34", "-100", "EUR", "0.00"),
        ("999999999999999.99", "1000", "EUR", "999999999999999"),
    ],
)
def test_scaled_amount_is_rounded_half_up_and_limited(amount, percent, currency, scaled):
    assert str(scale_amount(Decimal(amount), percent=Decimal(percent), currency=currency)) == scaled


def test_scale_between_days_overrides_these_only():
    change = Change("scale", PLAN, percent=Decimal(10), start=dt.date(2026, 2, 28), end=dt.date(2026, 3, 30))
    changed = apply_change(build_state(), change, window=WINDOW)
    assert changed.amount == 100
    assert changed.overrides == {dt.date(2026, 2, 28): {"amount_value": Decimal("110.00")}}


def test_scale_without_end_changes_the_amount_and_keeps_earlier_and_settled_ones():
    settled = dt.date(2026, 4, 30)
    change = Change("scale", PLAN, percent=Decimal(10), start=dt.date(2026, 3, 31))
    changed = apply_change(build_state(settled=[settled], tax=Decimal(19)), change, window=WINDOW)
    assert (changed.amount, changed.tax) == (Decimal("110.00"), Decimal("20.90"))
    remaining = [dt.date(2026, 1, 31), dt.date(2026, 2, 28), settled]
    assert sorted(changed.overrides) == remaining
    assert {patch["amount_value"] for patch in changed.overrides.values()} == {Decimal(100)}


def test_change_of_another_target_changes_nothing():
    state = build_state(counterparty_id=OTHER, category_id=OTHER)
    for change in (
        Change("scale", OTHER, percent=Decimal(10)),
        Change("shift", counterparty_id=PLAN, days=3),
        Change("stop", category_ids=frozenset({CATEGORY}), category_id=CATEGORY, start=dt.date(2026, 1, 1)),
    ):
        assert apply_change(state, change, window=WINDOW) == state


def test_shift_moves_from_the_date_an_occurrence_has():
    overrides = {
        dt.date(2026, 2, 28): {"date": dt.date(2026, 3, 5)},
        dt.date(2026, 3, 1): {"date": dt.date(2026, 9, 9)},
    }
    change = Change("shift", PLAN, days=-10, start=dt.date(2026, 2, 1), end=dt.date(2026, 3, 31))
    changed = apply_change(build_state(overrides=overrides), change, window=WINDOW)
    assert [day for day, _ in list_amounts(changed)][:4] == ["01-31", "02-23", "03-21", "04-30"]
    assert changed.overrides[dt.date(2026, 3, 1)] == {"date": dt.date(2026, 9, 9)}  # no occurrence: without effect


@pytest.mark.parametrize(
    ("rule", "settled", "days"),
    [
        pytest.param(MONTHLY, [], ["01-31", "02-28"], id="endless"),
        pytest.param(RecurrenceRule(dt.date(2026, 1, 31), "month", count=2), [], ["01-31", "02-28"], id="ends before"),
        pytest.param(RecurrenceRule(dt.date(2026, 1, 31), "month", count=9), [], ["01-31", "02-28"], id="count"),
        pytest.param(MONTHLY, ["2026-05-31"], ["01-31", "02-28", "05-31"], id="a later one is settled"),
        pytest.param(RecurrenceRule(dt.date(2026, 3, 1), "week"), [], [], id="starts on that day"),
        pytest.param(RecurrenceRule(dt.date(2026, 3, 1)), [], [], id="once"),
        pytest.param(RecurrenceRule(dt.date(2026, 2, 1)), [], ["02-01"], id="once before"),
    ],
)
def test_stop_leaves_what_was_due_before_and_what_is_settled(rule, settled, days):
    change = Change("stop", PLAN, start=dt.date(2026, 3, 1))
    state = build_state(rule, settled=map(dt.date.fromisoformat, settled))
    changed = apply_change(state, change, window=WINDOW)
    assert [day for day, _ in list_amounts(changed)] == days
    assert changed.rule.end_date is None or changed.rule.end_date >= changed.rule.start


@pytest.mark.parametrize(
    ("rule", "last"),
    [
        (RecurrenceRule(dt.date(2026, 1, 31)), "2026-01-31"),
        (RecurrenceRule(dt.date(2026, 1, 31), "day", interval=10, count=3), "2026-02-20"),
        (RecurrenceRule(dt.date(2026, 1, 31), "week", count=2), "2026-02-07"),
        (RecurrenceRule(dt.date(2026, 1, 31), "year", interval=2, count=2), "2028-01-31"),
        (RecurrenceRule(dt.date(2026, 1, 31), "year", count=9000), "None"),
        (RecurrenceRule(dt.date(2026, 1, 31), "day", count=2_000_000_000), "None"),
        (MONTHLY, "None"),
    ],
)
def test_last_day_bounds_the_recurrence(rule, last):
    assert str(find_last_rule_day(rule)) == last


def test_contradictions_name_the_stop_first():
    stop = Change("stop", PLAN, start=dt.date(2026, 3, 1))
    before = Change("scale", PLAN, percent=Decimal(1), end=dt.date(2026, 2, 28))
    after = Change("shift", counterparty_id=OTHER, days=1)
    broad = Change("scale", category_ids=frozenset({CATEGORY}), category_id=CATEGORY, percent=Decimal(1))
    states = {PLAN: build_state(counterparty_id=OTHER, category_id=CATEGORY)}
    changes = [*enumerate([before, after, stop, broad])]
    assert find_contradicting_changes(changes, states) == [(2, 1)]
    assert find_contradicting_changes([(0, stop), (1, stop)], states) == [(0, 1)]


def build_item(amount="333.33", kind="fixed", growth="0", **values):
    fields = {"month": dt.date(2026, 1, 1), "frequency": 1, "duration": None} | values
    return PlanItemState(
        PLAN, "ga", CATEGORY, "EUR", amount=PlanAmount(kind, Decimal(amount), Decimal(growth)), **fields
    )


def sum_postings(items):
    sums = {}
    for item in items:
        for month, amount in compute_plan_postings(item.schedule, **YEAR).items():
            sums[month.month] = sums.get(month.month, 0) + amount
    return sums


@pytest.mark.parametrize("kind", ["fixed", "changeByAmount", "relative"])
@pytest.mark.parametrize("frequency", [1, 2, 5])
def test_scaled_plan_item_rounds_every_posting(kind, frequency):
    item = build_item(kind=kind, growth="0.07", frequency=frequency)
    change = Change(
        "scale", category_id=CATEGORY, percent=Decimal(10), start=dt.date(2026, 2, 15), end=dt.date(2026, 8, 1)
    )
    items = apply_change_to_items([item], change, through=dt.date(2035, 1, 1))
    assert all(each.amount.amount == round(each.amount.amount, 2) for each in items)
    postings = sum_postings(items)
    for month, amount in sum_postings([item]).items():
        rounded = scale_amount(amount, percent=Decimal(10 if 3 <= month <= 8 else 0), currency="EUR")
        assert abs(postings[month] - rounded) < Decimal("0.005"), month


@pytest.mark.parametrize("kind", ["fixed", "relative"])
@pytest.mark.parametrize("frequency", [1, 2])
@pytest.mark.parametrize("duration", [None, 9])
def test_percentages_on_a_plan_item_round_each_amount_once_and_in_their_order(kind, frequency, duration):
    changes = [
        Change("scale", category_id=CATEGORY, percent=Decimal(percent), start=dt.date(2026, first, 1), end=end)
        for percent, first, end in ((10, 2, None), (50, 4, dt.date(2026, 9, 30)), (-30, 3, dt.date(2026, 6, 1)))
    ]
    item = build_item("0.13", kind, growth="0.07", frequency=frequency, duration=duration)
    items = [item]
    for change in changes:
        items = apply_change_to_items(items, change, through=dt.date(2026, 12, 1))
    expected = sum_postings([item])
    for change in changes:
        for month in [month for month in expected if change.includes(dt.date(2026, month, 1))]:
            expected[month] = scale_amount(expected[month], percent=change.percent, currency="EUR")
    postings = sum_postings(items)
    assert {month: round_half_up(amount, "EUR") for month, amount in postings.items()} == {
        month: round_half_up(amount, "EUR") for month, amount in expected.items()
    }
    assert len(items) <= 1 + len(expected)


def test_plan_item_without_limits_is_changed_itself():
    (changed,) = apply_change_to_items(
        [build_item("100", "relative", "0.1")],
        Change("scale", pl_type="ga", percent=Decimal(10)),
        through=YEAR["window_end"],
    )
    assert (changed.id, changed.amount.amount) == (PLAN, Decimal("110.00"))


@pytest.mark.parametrize(
    ("values", "start", "months"),
    [
        ({}, "2026-03-01", [1, 2]),
        ({}, "2026-03-02", [1, 2, 3]),
        ({"duration": 1}, "2026-03-01", [1]),
        ({"frequency": 0}, "2026-01-01", []),
        ({"frequency": 0}, "2026-01-02", [1]),
        ({"frequency": 2}, "2026-04-01", [1, 3]),
    ],
)
def test_stop_ends_plan_item_before_a_day(values, start, months):
    change = Change("stop", category_id=CATEGORY, start=dt.date.fromisoformat(start))
    items = apply_change_to_items([build_item(**values)], change, through=dt.date(2035, 1, 1))
    assert sorted(sum_postings(items)) == months
