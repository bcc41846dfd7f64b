"""Which movements belong together as a transfer, against a naive reading of the rule; without a database."""

from datetime import date, timedelta
from decimal import Decimal
from uuid import UUID

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ledger.rules.calc.pairs import Leg, days_away, pairs

START = date(2026, 3, 10)


def leg(number, account=1, day=0, amount="-100", currency="EUR"):
    return Leg(UUID(int=number), UUID(int=account), START + timedelta(day), Decimal(amount), currency)


def worth(amount, source, target, day):
    """A euro is two dollars, and from the second day on four; of other currencies nobody knows it."""
    if {source, target} != {"EUR", "USD"}:
        return None
    rate = Decimal(2 if day <= START else 4)
    return amount * rate if target == "USD" else amount / rate


def naive(rows, refused):
    """Fewest days first, then equal amounts; the earlier source chooses the nearest amount, on a later day first."""
    waiting = [each for each in rows if each.amount > 0]
    sources = sorted((each for each in rows if each.amount < 0), key=lambda each: (each.day, each.id))
    found = []
    for days in range(6):
        for equal in (True, False):
            for source in [each for each in sources if each not in [pair[0] for pair in found]]:
                open_to_it = [each for each in waiting if (source.id, each.id) not in refused]
                choices = sorted(choices_of(source, open_to_it, days=days, equal=equal))
                if choices:
                    _, off, target = choices[0]
                    waiting.remove(target)
                    found.append((source, target, days, off))
    return found


def choices_of(source, waiting, *, days, equal):
    """(what makes one better than another, how far its amount is, the leg)"""
    for target in waiting:
        own = target.currency == source.currency
        expected = -source.amount if own else worth(-source.amount, source.currency, target.currency, source.day)
        apart = (target.day - source.day).days
        if own is equal and expected is not None and abs(apart) == days and target.account_id != source.account_id:
            off = target.amount - expected
            if abs(off) <= (0 if equal else Decimal("0.03") * expected):
                yield (target.currency, -apart, abs(off), target.amount, target.id), off, target


OUT = st.tuples(st.integers(1, 3), st.integers(0, 8), st.sampled_from(["-100", "-50", "-0.5"]))
INTO = st.tuples(
    st.integers(1, 3),
    st.integers(0, 8),
    st.sampled_from(["100", "50", "0.5", "194", "196", "199", "200", "201", "206", "207", "400", "392"]),
)
CURRENCIES = st.sampled_from(["EUR", "EUR", "USD", "USD", "AAA", "XXX"])


@given(
    st.lists(st.tuples(OUT, CURRENCIES), max_size=4),
    st.lists(st.tuples(INTO, CURRENCIES), max_size=8),
    st.sets(st.tuples(st.integers(1, 4), st.integers(10, 18)), max_size=3),
    st.randoms(use_true_random=False),
)
@settings(max_examples=300)
def test_pairs_are_what_a_naive_reading_says_in_whatever_order_movements_come(out, into, no, chance):
    rows = [leg(1 + n, *each, currency) for n, (each, currency) in enumerate(out)]
    rows += [leg(10 + n, *each, currency) for n, (each, currency) in enumerate(into)]
    chance.shuffle(rows)
    refused = {(UUID(int=source), UUID(int=target)) for source, target in no}
    found = pairs(rows, worth=worth, refused=refused)
    assert [(each.source, each.target, each.days, each.difference) for each in found] == naive(rows, refused)


def found(*legs):
    return [
        (each.source.id.int, each.target.id.int, each.days, str(each.difference)) for each in pairs(legs, worth=worth)
    ]


@pytest.mark.parametrize(("days", "expected"), [(5, [(1, 2, 5, "0")]), (-5, [(1, 2, 5, "0")]), (6, []), (-6, [])])
def test_five_days_are_the_most_between_two_legs(days, expected):
    assert found(leg(1), leg(2, 2, days, "100")) == expected


@pytest.mark.parametrize(("amount", "taken"), [("206", True), ("194", True), ("206.01", False), ("193.99", False)])
def test_three_in_a_hundred_may_be_lost_between_currencies(amount, taken):
    assert bool(found(leg(1), leg(2, 2, 0, amount, "USD"))) is taken


@pytest.mark.parametrize(
    ("amounts", "chosen"),
    [
        (["196", "199", "202"], "199"),
        (["199", "200", "201"], "200"),
        (["199", "201"], "199"),  # of two as near the lower
        (["194", "206", "203"], "203"),
    ],
)
def test_the_nearest_amount_is_taken_and_told_how_far_it_is(amounts, chosen):
    legs = [leg(2 + n, 2, 0, amount, "USD") for n, amount in enumerate(amounts)]
    assert found(leg(1), *legs) == [(1, 2 + amounts.index(chosen), 0, str(Decimal(chosen) - 200))]


def test_of_two_days_as_near_the_later_is_taken_for_money_arrives_after_it_left():
    assert found(leg(1), leg(2, 2, -2, "100"), leg(3, 2, 2, "100")) == [(1, 3, 2, "0")]


def test_of_two_sources_as_near_the_earlier_chooses():
    assert found(leg(1, day=4), leg(2, day=2), leg(3, 2, 3, "100")) == [(2, 3, 1, "0")]


@pytest.mark.parametrize("amount", ["99.99", "100.01", "101", "99"])
def test_within_a_currency_nothing_may_be_lost(amount):
    assert found(leg(1), leg(2, 2, 0, amount)) == []


def test_a_leg_that_somebody_refused_leaves_the_way_to_the_next():
    legs = [leg(1), leg(2, 2, 0, "100"), leg(3, 2, 0, "100")]
    (pair,) = pairs(legs, worth=worth, refused={(UUID(int=1), UUID(int=2))})
    assert pair.target.id.int == 3


def test_money_counts_at_the_rate_of_the_day_on_which_it_left():
    assert found(leg(1, day=1), leg(2, 2, 0, "200", "USD"), leg(3, 2, 0, "400", "USD")) == [(1, 3, 1, "0")]


def test_a_currency_without_a_rate_is_passed_over_for_the_next():
    assert found(leg(1), leg(2, 2, 0, "100", "AAA"), leg(3, 2, 0, "200", "USD")) == [(1, 3, 0, "0")]


@pytest.mark.parametrize(("edge", "inside"), [(date.min, date(1, 1, 4)), (date.max, date(9999, 12, 28))])
def test_days_end_with_the_calendar(edge, inside):
    assert days_away(edge, 0) == [edge]
    assert edge in days_away(inside, 3)
    assert len(days_away(edge, 3)) == 1
