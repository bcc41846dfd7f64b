"""Which movements belong together as a transfer, against a naive reading of the rule; without a database."""

from datetime import date, timedelta
from decimal import Decimal
from itertools import product
from uuid import UUID

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ledger.rules.calc.parties import CompanyIdentity
from ledger.rules.calc.transfer_pairs import (
    CandidateLeg,
    PartySigns,
    find_transfer_pairs,
    is_transfer_pair,
    list_days_apart,
)

START = date(2026, 3, 10)
ACME = CompanyIdentity("Acme GmbH")


def build_leg(number, account=1, day=0, amount="-100", currency="EUR", from_to="", description=""):
    return CandidateLeg(
        UUID(int=number), UUID(int=account), START + timedelta(day), Decimal(amount), currency, from_to, description
    )


def convert_amount(amount, source, target, day):
    """A euro is two dollars, and from the second day on four; of other currencies nobody knows it."""
    if {source, target} != {"EUR", "USD"}:
        return None
    rate = Decimal(2 if day <= START else 4)
    return amount * rate if target == "USD" else amount / rate


def find_pairs_naively(rows, refused):
    """Own names on both legs first, then fewest days, then equal amounts; the earlier source chooses the nearest
    amount, on a later day first."""
    waiting = [each for each in rows if each.amount > 0]
    sources = sorted((each for each in rows if each.amount < 0), key=lambda each: (each.day, each.id))
    results = []
    for signed, days, equal in product((True, False), range(6), (True, False)):
        for source in [each for each in sources if each not in [pair[0] for pair in results]]:
            open_to_it = [each for each in waiting if (source.id, each.id) not in refused]
            if signed:
                open_to_it = [each for each in open_to_it if source.from_to == each.from_to == OWN_NAME]
            choices = sorted(list_choices(source, open_to_it, days=days, equal=equal))
            if choices:
                _, off, target = choices[0]
                waiting.remove(target)
                results.append((source, target, days, off))
    return sorted(results, key=lambda each: each[2])


def get_allowed_difference(source, target):
    """How far amounts in two currencies may differ; nothing where the two are no pair at all."""
    names = {source.from_to, target.from_to}
    if names == {OWN_NAME}:
        return Decimal("0.05")
    return Decimal("0.03") if names == {OWN_NAME, ""} else None


def list_choices(source, waiting, *, days, equal):
    """(what makes one better than another, how far its amount is, the leg)"""
    for target in waiting:
        own = target.currency == source.currency
        expected = (
            -source.amount if own else convert_amount(-source.amount, source.currency, target.currency, source.day)
        )
        apart = (target.day - source.day).days
        if own is equal and expected is not None and abs(apart) == days and target.account_id != source.account_id:
            off = target.amount - expected
            strangers = {"Globex", "Initech"} == {source.from_to, target.from_to}
            share_off = 0 if equal else get_allowed_difference(source, target)
            if not strangers and share_off is not None and abs(off) <= share_off * expected:
                yield (target.currency, -apart, abs(off), target.amount, target.id), off, target


OWN_NAME = "ACME GMBH"
NAMES = st.sampled_from(["", "", OWN_NAME, OWN_NAME, "Globex", "Initech"])
OUTGOING_LEGS = st.tuples(st.integers(1, 3), st.integers(0, 8), st.sampled_from(["-100", "-50", "-0.5"]))
INCOMING_LEGS = st.tuples(
    st.integers(1, 3),
    st.integers(0, 8),
    st.sampled_from(
        ["100", "50", "0.5", "189", "190", "194", "196", "199", "200", "201", "206", "207", "210", "211", "400", "392"]
    ),
)
CURRENCIES = st.sampled_from(["EUR", "EUR", "USD", "USD", "AAA", "XXX"])


@given(
    st.lists(st.tuples(OUTGOING_LEGS, CURRENCIES, NAMES), max_size=4),
    st.lists(st.tuples(INCOMING_LEGS, CURRENCIES, NAMES), max_size=8),
    st.sets(st.tuples(st.integers(1, 4), st.integers(10, 18)), max_size=3),
    st.randoms(use_true_random=False),
)
@settings(max_examples=300)
def test_transfer_pairs_equal_naive_implementation_in_any_order(out, into, no, chance):
    rows = [build_leg(1 + n, *each, currency, name) for n, (each, currency, name) in enumerate(out)]
    rows += [build_leg(10 + n, *each, currency, name) for n, (each, currency, name) in enumerate(into)]
    chance.shuffle(rows)
    refused = {(UUID(int=source), UUID(int=target)) for source, target in no}
    transfer_pairs = find_transfer_pairs(rows, convert_amount=convert_amount, identity=ACME, dismissed=refused)
    assert [(each.source, each.target, each.days, each.difference) for each in transfer_pairs] == find_pairs_naively(
        rows, refused
    )


def find_pairs(*legs):
    return [
        (each.source.id.int, each.target.id.int, each.days, str(each.difference))
        for each in find_transfer_pairs(legs, convert_amount=convert_amount, identity=ACME)
    ]


@pytest.mark.parametrize(("days", "expected"), [(5, [(1, 2, 5, "0")]), (-5, [(1, 2, 5, "0")]), (6, []), (-6, [])])
def test_transfer_legs_are_at_most_five_days_apart(days, expected):
    assert find_pairs(build_leg(1), build_leg(2, 2, days, "100")) == expected


NOBODY, OWN_SIGN, GLOBEX = PartySigns(False, ()), PartySigns(True, ()), PartySigns(False, ("globex",))
INITECH, GLOBEX_EUROPE = PartySigns(False, ("initech",)), PartySigns(False, ("globex", "europe"))
WISE_WITH_SIGN = PartySigns(True, ("wise",))


@pytest.mark.parametrize(
    ("source", "target", "expected"),
    [
        pytest.param(NOBODY, NOBODY, True, id="nobody is named"),
        pytest.param(GLOBEX, NOBODY, True, id="one third party"),
        pytest.param(GLOBEX, GLOBEX_EUROPE, True, id="one third party under two names"),
        pytest.param(GLOBEX, OWN_SIGN, True, id="a third party and the company"),
        pytest.param(GLOBEX, INITECH, False, id="two third parties"),
        pytest.param(GLOBEX, WISE_WITH_SIGN, False, id="two third parties, and a word such as transfer"),
    ],
)
def test_equal_amounts_form_transfer_unless_two_third_parties_are_named(source, target, expected):
    for one, other in ((source, target), (target, source)):
        assert is_transfer_pair(one, other, same_currency=True, deviation=Decimal(0)) is expected
        assert not is_transfer_pair(one, other, same_currency=True, deviation=Decimal("0.001"))


@pytest.mark.parametrize(
    ("source", "target", "most"),
    [
        pytest.param(OWN_SIGN, OWN_SIGN, "0.05", id="signs on both legs"),
        pytest.param(OWN_SIGN, WISE_WITH_SIGN, "0.05", id="signs on both legs, one through a third party"),
        pytest.param(OWN_SIGN, NOBODY, "0.03", id="a sign on one leg"),
        pytest.param(WISE_WITH_SIGN, NOBODY, "0.03", id="a sign beside a third party"),
        pytest.param(OWN_SIGN, GLOBEX, None, id="a sign, and the other leg names a third party"),
        pytest.param(NOBODY, NOBODY, None, id="no sign"),
        pytest.param(GLOBEX, NOBODY, None, id="no sign, one third party"),
        pytest.param(GLOBEX, INITECH, None, id="two third parties"),
        pytest.param(GLOBEX, WISE_WITH_SIGN, None, id="two third parties, and a word such as transfer"),
    ],
)
def test_allowed_cross_currency_deviation_depends_on_own_company_signs(source, target, most):
    for one, other in ((source, target), (target, source)):
        for share in ("0", "0.03", "0.0301", "0.05", "0.0501"):
            expected = most is not None and Decimal(share) <= Decimal(most)
            assert is_transfer_pair(one, other, same_currency=False, deviation=Decimal(share)) is expected, share


def test_transfer_with_own_company_on_both_legs_precedes_third_party():
    own = [build_leg(1, from_to="Acme GmbH"), build_leg(3, 2, 2, "100", from_to="ACME")]
    assert find_pairs(*own, build_leg(2, 2, 0, "100", from_to="Globex")) == [(1, 3, 2, "0")]


@pytest.mark.parametrize(
    ("amounts", "chosen"),
    [
        (["196", "199", "202"], "199"),
        (["199", "200", "201"], "200"),
        (["199", "201"], "199"),  # of two as near the lower
        (["194", "206", "203"], "203"),
    ],
)
def test_nearest_amount_is_paired_and_difference_is_returned(amounts, chosen):
    legs = [build_leg(2 + n, 2, 0, amount, "USD") for n, amount in enumerate(amounts)]
    assert find_pairs(build_leg(1, description="Umbuchung"), *legs) == [
        (1, 2 + amounts.index(chosen), 0, str(Decimal(chosen) - 200))
    ]


def test_later_of_two_equally_near_days_is_paired():
    assert find_pairs(build_leg(1), build_leg(2, 2, -2, "100"), build_leg(3, 2, 2, "100")) == [(1, 3, 2, "0")]


def test_earlier_of_two_equally_near_sources_is_paired():
    assert find_pairs(build_leg(1, day=4), build_leg(2, day=2), build_leg(3, 2, 3, "100")) == [(2, 3, 1, "0")]


@pytest.mark.parametrize("amount", ["99.99", "100.01", "101", "99"])
def test_same_currency_transfer_requires_equal_amounts(amount):
    assert find_pairs(build_leg(1), build_leg(2, 2, 0, amount)) == []


def test_dismissed_pair_leaves_leg_for_next_match():
    legs = [build_leg(1), build_leg(2, 2, 0, "100"), build_leg(3, 2, 0, "100")]
    (pair,) = find_transfer_pairs(
        legs, convert_amount=convert_amount, identity=ACME, dismissed={(UUID(int=1), UUID(int=2))}
    )
    assert pair.target.id.int == 3


def test_transfer_is_converted_at_rate_of_source_date():
    dollars = [build_leg(2, 2, 0, "200", "USD"), build_leg(3, 2, 0, "400", "USD")]
    assert find_pairs(build_leg(1, day=1, description="Transfer"), *dollars) == [(1, 3, 1, "0")]


def test_currency_without_rate_is_skipped():
    legs = [build_leg(1, description="Transfer"), build_leg(2, 2, 0, "100", "AAA"), build_leg(3, 2, 0, "200", "USD")]
    assert find_pairs(*legs) == [(1, 3, 0, "0")]


@pytest.mark.parametrize(("edge", "inside"), [(date.min, date(1, 1, 4)), (date.max, date(9999, 12, 28))])
def test_days_are_limited_to_the_calendar(edge, inside):
    assert list_days_apart(edge, 0) == [edge]
    assert edge in list_days_apart(inside, 3)
    assert len(list_days_apart(edge, 3)) == 1
