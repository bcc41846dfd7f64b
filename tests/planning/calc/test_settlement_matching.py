"""Which movements could be what was expected, against a naive reading of the rule; without a database."""

from datetime import date, timedelta
from decimal import Decimal
from uuid import UUID

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ledger.money.calc.fx import RateTable
from planning.calc.settlement_matching import BookedTransaction, OpenOccurrence, match_occurrences

START = date(2024, 3, 1)
TENTH = Decimal("0.1")
# A euro is 1.25 dollars, and from the third day on two.
RATES = RateTable([("USD", START, Decimal("1.25")), ("USD", START + timedelta(2), Decimal(2))])


def build_awaited(number, day=0, amount="-100", currency="EUR", account=None, original=None):
    when = START + timedelta(day)
    return OpenOccurrence(
        UUID(int=number), when if original is None else START + timedelta(original), when, Decimal(amount), currency,
        account and UUID(int=account),
    )  # fmt: skip


def build_booked(number, day=0, amount="-100", currency="EUR", account=1):
    return BookedTransaction(UUID(int=number), START + timedelta(day), Decimal(amount), currency, UUID(int=account))


def describe_pairs(pairs):
    return [
        (each.occurrence.planned_id.int, each.transaction.id.int, each.days, str(each.difference)) for each in pairs
    ]


def convert_to_euro(amount, currency, day):
    if currency == "EUR":
        return amount
    return amount / (Decimal(2) if day >= START + timedelta(2) else Decimal("1.25"))


def match_naively(expected, moved, most_days, tolerance, refused):
    """Every pair that fits, the nearest first; each side once."""
    pairs = []
    for one in expected:
        for other in moved:
            days = abs((other.date - one.date).days)
            away = convert_to_euro(other.amount, other.currency, other.date) - one.amount
            fits = one.amount and days <= most_days and abs(away) <= abs(one.amount) * tolerance
            named = (other.id, one.planned_id, one.original_date)
            if fits and one.account_id in (None, other.account_id) and named not in refused:
                pairs.append((days, abs(away), one.original_date, one.planned_id, other.id, one, other, away))
    result, seen = [], set()
    for days, _, original, planned, movement, _, _, away in sorted(pairs, key=lambda pair: pair[:5]):
        if seen.isdisjoint({(planned, original), movement}):
            seen |= {(planned, original), movement}
            result.append((planned.int, movement.int, days, away))
    return result


AMOUNTS = st.sampled_from(["-100", "-110", "-90", "-95", "100", "200", "1", "0", "-200", "-125"])
DAYS, ACCOUNTS = st.integers(0, 4), st.sampled_from([None, 1, 2])
awaited_lists = st.lists(st.tuples(DAYS, AMOUNTS, ACCOUNTS, st.integers(0, 1)), max_size=4)
booked_lists = st.lists(st.tuples(DAYS, AMOUNTS, st.sampled_from(["EUR", "USD"]), st.integers(1, 2)), max_size=5)


@given(
    awaited_lists,
    booked_lists,
    st.integers(0, 3),
    st.sampled_from(["0", "0.1", "0.5", "1"]),
    st.sets(st.integers(0, 5)),
)
@settings(max_examples=200)
def test_matching_equals_a_naive_implementation(expected, moved, most_days, tolerance, no):
    # Plans 1 and 2, each with occurrences on several original days.
    rows = [
        build_awaited(1 + plan, day, amount, account=account, original=n)
        for n, (day, amount, account, plan) in enumerate(expected)
    ]
    came = [build_booked(10 + n, *each) for n, each in enumerate(moved)]
    refused = {(UUID(int=10 + n), row.planned_id, row.original_date) for n in no for row in rows[:2]}
    occurrences = match_occurrences(
        rows, came, max_days=most_days, tolerance=Decimal(tolerance), rates=RATES, dismissed=refused
    )  # fmt: skip
    pairs = [
        (each.occurrence.planned_id.int, each.transaction.id.int, each.days, each.difference) for each in occurrences
    ]
    assert pairs == match_naively(rows, came, most_days, Decimal(tolerance), refused)


def test_foreign_amount_is_compared_at_rate_of_its_day():
    rent, early, late = build_awaited(1, 2), build_booked(11, 0, "-125", "USD"), build_booked(12, 3, "-200", "USD")
    assert describe_pairs(match_occurrences([rent], [early, late], max_days=3, rates=RATES)) == [(1, 12, 1, "0.00")]
    assert describe_pairs(match_occurrences([rent], [early], max_days=3, rates=RATES)) == [(1, 11, 2, "0.00")]


@pytest.mark.parametrize("rates", [None, RateTable([])], ids=["no rates", "none of the currency"])
def test_foreign_amount_without_rate_does_not_match(rates):
    assert match_occurrences([build_awaited(1)], [build_booked(11, 0, "-100", "USD")], max_days=3, rates=rates) == []
    assert describe_pairs(match_occurrences([build_awaited(1)], [build_booked(11)], max_days=3, rates=rates)) == [
        (1, 11, 0, "0.00")
    ]


def test_tolerance_limit_is_inclusive_in_other_currency():
    assert describe_pairs(
        match_occurrences(
            [build_awaited(1)], [build_booked(11, 0, "-137.50", "USD")], max_days=0, tolerance=TENTH, rates=RATES
        )
    ) == [(1, 11, 0, "-10.00")]  # fmt: skip
    assert (
        match_occurrences(
            [build_awaited(1)], [build_booked(11, 0, "-137.51", "USD")], max_days=0, tolerance=TENTH, rates=RATES
        )
        == []
    )


def test_transaction_on_other_account_does_not_block_match():
    elsewhere, here = build_booked(11, 0, "-105", account=2), build_booked(12, 0, "-100", account=1)
    assert describe_pairs(
        match_occurrences([build_awaited(1, account=1)], [elsewhere, here], max_days=0, tolerance=TENTH)
    ) == [(1, 12, 0, "0.00")]


@pytest.mark.parametrize(("amount", "difference"), [("0", "100.00"), ("-200", "-100.00")])
def test_full_tolerance_matches_zero_to_double_the_amount(amount, difference):
    occurrences = match_occurrences([build_awaited(1)], [build_booked(11, 0, amount)], max_days=0, tolerance=Decimal(1))
    assert describe_pairs(occurrences) == [(1, 11, 0, difference)]


def test_difference_is_rounded_to_cents():
    third = RateTable([("USD", START, Decimal(3))])
    assert describe_pairs(
        match_occurrences(
            [build_awaited(1)], [build_booked(11, 0, "-301", "USD")], max_days=0, tolerance=TENTH, rates=third
        )
    ) == [(1, 11, 0, "-0.33")]


@pytest.mark.parametrize("edge", [date.min, date.max])
def test_occurrences_at_calendar_ends_are_matched(edge):
    expected = build_awaited(1)._replace(date=edge)
    assert describe_pairs(match_occurrences([expected], [build_booked(11)._replace(date=edge)], max_days=10)) == [
        (1, 11, 0, "0.00")
    ]
