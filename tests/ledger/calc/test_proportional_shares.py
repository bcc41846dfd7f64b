"""What parts of an amount are of another: they add up, and none is further off than rounding takes it."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledger.calc.proportional_shares import scale_proportionally

UNIT = {"EUR": Decimal("0.01"), "JPY": Decimal(1)}
PARTS = st.lists(st.one_of(st.none(), st.integers(1, 10**15)), min_size=1, max_size=12).filter(any)


@given(PARTS, st.integers(1, 10**15), st.sampled_from([1, -1]), st.sampled_from(sorted(UNIT)))
def test_proportional_shares_sum_to_new_total_within_rounding(parts, to, sign, currency):
    unit = UNIT[currency]
    values = [None if each is None else sign * each * unit for each in parts]
    whole, new = sum(each for each in values if each is not None), sign * to * unit
    shares = scale_proportionally(values, of=whole, to=new, currency=currency)
    assert [share is None for share in shares] == [value is None for value in values]
    assert sum(share for share in shares if share is not None) == new
    for value, share in zip(values, shares, strict=True):
        if value is not None:
            assert share % unit == 0
            assert abs(share * whole - value * new) <= abs(unit * whole)


def test_proportional_shares_keep_their_proportion():
    of_most = scale_proportionally([Decimal(30), Decimal(50)], of=Decimal(100), to=Decimal(50), currency="EUR")
    assert of_most == [Decimal(15), Decimal(25)]


@pytest.mark.parametrize(
    ("currency", "shares"),
    [("EUR", ["3.33", "3.34", "3.33"]), ("JPY", ["3", "4", "3"])],
)
def test_proportional_shares_use_decimals_of_currency(currency, shares):
    assert scale_proportionally([Decimal(1)] * 3, of=Decimal(3), to=Decimal(10), currency=currency) == [
        Decimal(share) for share in shares
    ]


def test_proportional_shares_of_largest_amounts_are_exact():
    largest = Decimal("999999999999999.99")
    assert scale_proportionally([largest], of=largest, to=-largest, currency="EUR") == [-largest]
    assert scale_proportionally(
        [Decimal("0.01"), largest - Decimal("0.01")], of=largest, to=largest, currency="EUR"
    ) == [
        Decimal("0.01"),
        largest - Decimal("0.01"),
    ]
