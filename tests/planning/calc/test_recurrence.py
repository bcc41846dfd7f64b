"""Which days a rule names, and what overrides make of them."""

from dataclasses import replace
from datetime import date, datetime, timedelta
from decimal import Decimal

import pytest
from dateutil import rrule
from hypothesis import given, settings
from hypothesis import strategies as st

from ledger.calc.months import add_months, get_last_day_of_month
from planning.calc.recurrence import (
    Occurrence,
    RecurrenceRule,
    expand_occurrences,
    is_occurrence,
    list_expected_days,
    list_occurrence_days,
    move_off_weekend,
)

LONG_WINDOW = {"window_start": date(1990, 1, 1), "window_end": date(2060, 12, 31)}
FREQUENCIES = {"day": rrule.DAILY, "week": rrule.WEEKLY, "month": rrule.MONTHLY, "year": rrule.YEARLY}


def list_days(*texts):
    return [date.fromisoformat(text) for text in texts]


@st.composite
def draw_rule(draw):
    start = draw(st.dates(date(2015, 1, 1), date(2030, 12, 31)))
    frequency = draw(st.sampled_from([None, "day", "week", "month", "year"]))
    return RecurrenceRule(
        start=start,
        frequency=frequency,
        interval=draw(st.integers(1, 14)),
        last_day_of_month=frequency in {"month", "year"} and draw(st.booleans()),
        end_date=draw(st.none() | st.dates(start - timedelta(days=40), date(2040, 1, 1))),
        count=draw(st.none() | st.integers(1, 40)),
    )


WINDOWS = st.tuples(st.dates(date(2014, 1, 1), date(2034, 1, 1)), st.integers(-5, 1500)).map(
    lambda drawn: {"window_start": drawn[0], "window_end": drawn[0] + timedelta(days=drawn[1])}
)


def expand_by_definition(rule, *, window_start, window_end):
    """The definition itself: occurrence i for i = 0, 1, 2, … until the window is passed."""
    results = []
    for index in range(10_000):
        if rule.frequency is None and index:
            break
        day = {
            None: lambda: rule.start,
            "day": lambda: rule.start + timedelta(days=index * rule.interval),  # noqa: B023 - called at once
            "week": lambda: rule.start + timedelta(weeks=index * rule.interval),  # noqa: B023
            "month": lambda: add_months(rule.start, index * rule.interval),  # noqa: B023
            "year": lambda: add_months(rule.start, 12 * index * rule.interval),  # noqa: B023
        }[rule.frequency]()
        if rule.last_day_of_month:
            day = get_last_day_of_month(day)
        if day > window_end or (rule.end_date and day > rule.end_date) or (rule.count and index >= rule.count):
            break
        if day >= window_start:
            results.append(day)
    return results


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        (RecurrenceRule(date(2024, 1, 31), "month", count=4),
         list_days("2024-01-31", "2024-02-29", "2024-03-31", "2024-04-30")),
        (RecurrenceRule(date(2014, 1, 31), "month", count=4),
         list_days("2014-01-31", "2014-02-28", "2014-03-31", "2014-04-30")),
        (RecurrenceRule(date(2024, 1, 28), "month", count=2), list_days("2024-01-28", "2024-02-28")),
        (RecurrenceRule(date(2024, 2, 29), "year", count=2), list_days("2024-02-29", "2025-02-28")),
        (RecurrenceRule(date(2024, 2, 29), "year", 4, count=2), list_days("2024-02-29", "2028-02-29")),
        (RecurrenceRule(date(2023, 11, 30), "month", 3, count=3), list_days("2023-11-30", "2024-02-29", "2024-05-30")),
        (RecurrenceRule(date(2024, 1, 15), "month", last_day_of_month=True, count=2),
         list_days("2024-01-31", "2024-02-29")),
        (RecurrenceRule(date(2023, 2, 10), "year", last_day_of_month=True, count=2),
         list_days("2023-02-28", "2024-02-29")),
        (RecurrenceRule(date(2024, 12, 30), "week", 2, count=2), list_days("2024-12-30", "2025-01-13")),
        (RecurrenceRule(date(2024, 2, 28), "day", count=3), list_days("2024-02-28", "2024-02-29", "2024-03-01")),
        (RecurrenceRule(date(2024, 5, 5)), list_days("2024-05-05")),
    ],
    ids=str,
)  # fmt: skip
def test_occurrences_count_from_start_and_are_clamped_to_month_end(rule, expected):
    assert list_occurrence_days(rule, **LONG_WINDOW) == expected


def test_end_date_is_included():
    rule = RecurrenceRule(date(2024, 1, 10), "month", end_date=date(2024, 3, 10))
    assert list_occurrence_days(rule, **LONG_WINDOW) == list_days("2024-01-10", "2024-02-10", "2024-03-10")
    assert list_occurrence_days(RecurrenceRule(date(2024, 1, 10), end_date=date(2024, 1, 9)), **LONG_WINDOW) == []


@pytest.mark.parametrize("frequency", ["day", "week", "month", "year"])
def test_rule_ending_on_first_day_of_window_occurs_on_that_day(frequency):
    end = {"day": date(2024, 2, 29), "week": date(2024, 3, 7), "month": date(2024, 2, 29), "year": date(2025, 2, 28)}
    rule = RecurrenceRule(date(2024, 2, 29), frequency, end_date=end[frequency])
    assert list_occurrence_days(rule, window_start=end[frequency], window_end=date(2030, 12, 31)) == [end[frequency]]


def test_end_before_last_day_of_first_month_yields_no_occurrence():
    assert (
        list_occurrence_days(
            RecurrenceRule(date(2024, 1, 10), "month", last_day_of_month=True, end_date=date(2024, 1, 30)),
            **LONG_WINDOW,
        )
        == []
    )


@given(rule=draw_rule(), window=WINDOWS)
@settings(max_examples=250)
def test_window_expansion_equals_definition(rule, window):
    assert list_occurrence_days(rule, **window) == expand_by_definition(rule, **window)


@given(rule=draw_rule(), window=WINDOWS, cut=st.integers(0, 1500))
@settings(max_examples=60)
def test_adjacent_windows_equal_their_union(rule, window, cut):
    middle = min(window["window_start"] + timedelta(days=cut), window["window_end"])
    before = list_occurrence_days(rule, window_start=window["window_start"], window_end=middle)
    after = list_occurrence_days(rule, window_start=middle + timedelta(days=1), window_end=window["window_end"])
    assert before + after == list_occurrence_days(rule, **window)


@given(rule=draw_rule().filter(lambda rule: rule.frequency is not None), window=WINDOWS)
@settings(max_examples=120)
def test_recurrence_equals_dateutil(rule, window):
    words = {"bymonthday": -1} if rule.last_day_of_month else {}
    if rule.frequency in {"month", "year"} and rule.start.day > 28 and not rule.last_day_of_month:
        words = {"bymonthday": range(28, rule.start.day + 1), "bysetpos": -1}
    if rule.frequency == "year":
        words["bymonth"] = rule.start.month
    moments = rrule.rrule(
        FREQUENCIES[rule.frequency],
        dtstart=datetime.combine(rule.start, datetime.min.time()),
        interval=rule.interval,
        count=rule.count,
        **words,
    )
    last = min(window["window_end"], rule.end_date or window["window_end"])
    start, end = (datetime.combine(day, datetime.min.time()) for day in (window["window_start"], last))
    assert list_occurrence_days(rule, **window) == [moment.date() for moment in moments.between(start, end, inc=True)]


@given(rule=draw_rule(), window=WINDOWS)
@settings(max_examples=60)
def test_is_occurrence_agrees_with_listed_occurrences(rule, window):
    named = list_occurrence_days(rule, **window)
    assert all(is_occurrence(rule, day) for day in named)
    day = window["window_start"]
    assert is_occurrence(rule, day) == (day in named and day <= window["window_end"]) or window["window_end"] < day


@pytest.mark.parametrize("start", [date(1, 1, 1), date(1900, 1, 31), date(9999, 12, 31)])
@pytest.mark.parametrize("frequency", ["day", "week", "month", "year"])
def test_windows_far_from_start_or_at_calendar_end_are_expanded(start, frequency):
    rule = RecurrenceRule(start, frequency)
    assert len(list_occurrence_days(rule, window_start=date(9999, 1, 1), window_end=date.max)) <= 366
    assert list_occurrence_days(rule, window_start=start, window_end=start) == [start]


@pytest.mark.parametrize(
    "wrong",
    [
        {"frequency": "fortnight"},
        {"frequency": "day", "interval": 0},
        {"frequency": "day", "count": 0},
        {"frequency": "day", "last_day_of_month": True},
        {"frequency": "week", "last_day_of_month": True},
        {"last_day_of_month": True},
    ],
    ids=str,
)
def test_invalid_rule_is_rejected(wrong):
    with pytest.raises(
        ValueError, match=r" day, week|^An interval and a count start at 1\.$|^Only months and years have a last"
    ):
        RecurrenceRule(date(2024, 1, 1), **wrong)


MONTHLY = RecurrenceRule(date(2024, 1, 31), "month")
FEBRUARY = {"window_start": date(2024, 2, 1), "window_end": date(2024, 2, 29)}


def test_occurrences_moved_into_window_appear_and_moved_out_do_not():
    overrides = {
        date(2024, 1, 31): {"date": date(2024, 2, 2)},
        date(2024, 2, 29): {"date": date(2024, 3, 1)},
    }
    assert expand_occurrences(MONTHLY, overrides, **FEBRUARY) == [
        Occurrence(date(2024, 1, 31), date(2024, 2, 2), overrides[date(2024, 1, 31)])
    ]


@pytest.mark.parametrize("edge", FEBRUARY.values(), ids=str)
def test_occurrence_moved_to_either_window_end_is_included(edge):
    rule = RecurrenceRule(date(2024, 1, 15), "month", 2)
    [moved] = expand_occurrences(rule, {date(2024, 1, 15): {"date": edge}}, **FEBRUARY)
    assert (moved.original_date, moved.date) == (date(2024, 1, 15), edge)


def test_occurrences_are_sorted_by_date_then_original_date():
    rule = RecurrenceRule(date(2024, 2, 1), "week", count=3)
    overrides = {
        date(2024, 2, 15): {"date": date(2024, 2, 20)},
        date(2024, 2, 8): {"date": date(2024, 2, 20)},
        date(2024, 2, 1): {"date": date(2024, 2, 29)},
    }
    results = [(each.date.day, each.original_date.day) for each in expand_occurrences(rule, overrides, **FEBRUARY)]
    assert results == [(20, 8), (20, 15), (29, 1)]


def test_override_for_date_outside_rule_is_ignored():
    stale = {date(2024, 2, 15): {"amount_value": Decimal(1)}, date(2024, 1, 30): {"date": date(2024, 2, 3)}}
    assert expand_occurrences(MONTHLY, stale, **FEBRUARY) == expand_occurrences(MONTHLY, {}, **FEBRUARY)


def test_skipped_occurrence_is_marked_and_still_counts():
    rule = RecurrenceRule(date(2024, 1, 31), "month", count=2)
    occurrences = expand_occurrences(rule, {date(2024, 1, 31): {"skipped": True}}, **LONG_WINDOW)
    assert [(occurrence.date, occurrence.skipped) for occurrence in occurrences] == [
        (date(2024, 1, 31), True),
        (date(2024, 2, 29), False),
    ]


def test_override_changes_only_named_fields():
    patch = {
        "amount_value": Decimal("-5.00"),
        "account_id": "a",
        "category_id": "c",
        "name": "Rent",
    }
    [changed] = expand_occurrences(MONTHLY, {date(2024, 2, 29): patch}, **FEBRUARY)
    assert changed.overridden
    assert not changed.skipped
    assert changed.date == changed.original_date == date(2024, 2, 29)
    assert (changed.amount_value, changed.account_id, changed.category_id, changed.name) == (
        Decimal("-5.00"), "a", "c", "Rent",
    )  # fmt: skip
    [plain] = expand_occurrences(MONTHLY, {}, **FEBRUARY)
    assert not plain.overridden
    assert plain.amount_value is plain.account_id is plain.category_id is plain.name is None


@given(
    rule=draw_rule(),
    window=WINDOWS,
    moves=st.dictionaries(st.integers(0, 30), st.integers(-400, 400), max_size=6),
)
@settings(max_examples=100)
def test_windows_go_by_the_moved_date(rule, window, moves):
    named = list_occurrence_days(rule, **LONG_WINDOW)
    overrides = {
        named[index]: {"date": named[index] + timedelta(days=shift)}
        for index, shift in moves.items()
        if index < len(named)
    }
    effective = sorted((overrides.get(day, {"date": day})["date"], day) for day in named)
    expected = [pair for pair in effective if window["window_start"] <= pair[0] <= window["window_end"]]
    occurrences = expand_occurrences(rule, overrides, **window)
    assert [(occurrence.date, occurrence.original_date) for occurrence in occurrences] == expected


# ---------------------------------------------------------------------------------------------- weekends


@pytest.mark.parametrize(
    ("day", "shift", "expected"),
    [
        ("2026-08-01", "none", "2026-08-01"),
        ("2026-08-01", "before", "2026-07-31"),
        ("2026-08-01", "after", "2026-08-03"),
        ("2026-08-02", "before", "2026-07-31"),
        ("2026-08-02", "after", "2026-08-03"),
        ("2026-07-31", "after", "2026-07-31"),
        ("2026-08-03", "before", "2026-08-03"),
        ("9999-12-25", "after", "9999-12-27"),
    ],
)
def test_weekend_is_shifted_to_a_weekday(day, shift, expected):
    assert move_off_weekend(date.fromisoformat(day), shift) == date.fromisoformat(expected)


@given(draw_rule(), st.sampled_from(["before", "after"]), WINDOWS, st.data())
def test_weekend_shift_moves_days_and_keeps_original_dates(rule, shift, window, data):
    shifted = replace(rule, weekend_shift=shift)
    wide = {"window_start": date(2013, 1, 1), "window_end": date(2040, 1, 1)}
    originals = list_occurrence_days(rule, **wide)
    assert list_occurrence_days(shifted, **wide) == originals
    expected = [(move_off_weekend(day, shift), day) for day in originals]
    inside = [pair for pair in expected if window["window_start"] <= pair[0] <= window["window_end"]]
    expected_days = list_expected_days(shifted, **window)
    assert expected_days == inside == sorted(expected_days)
    for day, original in expected_days:
        assert day.weekday() < 5
        moved_days = {"before": {-1, -2}, "after": {1, 2}}[shift] if original.weekday() >= 5 else {0}
        assert (day - original).days in moved_days
    if originals:
        moved = data.draw(st.sampled_from(originals))
        overrides = {moved: {"date": window["window_start"]}}
        dates = {each.original_date: each.date for each in expand_occurrences(shifted, overrides, **window)}
        if window["window_start"] <= window["window_end"]:
            assert dates.pop(moved) == window["window_start"], "a person's date is not shifted"
        assert dates == {original: day for day, original in inside if original != moved}
