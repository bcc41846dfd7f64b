"""Shares of an amount: percentages and fixed amounts, which add up to it with the remainder."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledger.calc.allocation import Share, SharesExceedAmount, split_by_shares
from ledger.money.calc.money import has_too_many_decimals

AMOUNTS = st.decimals(min_value=-10_000, max_value=10_000, places=2)
PERCENTS = st.lists(st.decimals(min_value="0.0001", max_value=25, places=4), max_size=4)


@given(AMOUNTS.filter(bool), PERCENTS)
def test_percentages_and_remainder_add_up_to_the_amount(amount, percents):
    parts, remainder = split_by_shares(amount, [Share(percent, None) for percent in percents], "EUR")
    assert sum(parts, remainder) == amount
    for part, percent in zip([*parts, remainder], [*percents, 100 - sum(percents)], strict=True):
        assert part * amount >= 0
        assert abs(part - amount * percent / 100) <= Decimal("0.01")
        assert not has_too_many_decimals(part, "EUR")


@pytest.mark.parametrize(
    ("amount", "shares", "currency", "expected"),
    [
        pytest.param("100.01", ["50%"], "EUR", ["50.01", "50.00"], id="half a cent is rounded up"),
        pytest.param("-100.01", ["50%"], "EUR", ["-50.01", "-50.00"], id="money out likewise"),
        pytest.param("4.55", ["50%", "50%"], "EUR", ["2.28", "2.27", "0.00"], id="all of it"),
        pytest.param("-99.00", ["20.00"], "EUR", ["-20.00", "-79.00"], id="a fixed amount has the sign"),
        pytest.param("100", ["33%", "10.00"], "JPY", ["33", "10", "57"], id="without decimals"),
        pytest.param("100.00", ["100.00"], "EUR", ["100.00", "0.00"], id="a fixed amount takes all"),
    ],
)
def test_shares_of_an_amount(amount, shares, currency, expected):
    parts, remainder = split_by_shares(Decimal(amount), [build_share(share) for share in shares], currency)
    assert [*parts, remainder] == [Decimal(value) for value in expected]


def build_share(text):
    return Share(Decimal(text[:-1]), None) if text.endswith("%") else Share(None, Decimal(text))


@pytest.mark.parametrize(
    ("amount", "shares", "currency"),
    [
        pytest.param("19.99", ["20.00"], "EUR", id="too small"),
        pytest.param("100.00", ["90%", "10.01"], "EUR", id="too small for both"),
        pytest.param("0.00", ["20%"], "EUR", id="nothing"),
        pytest.param("100", ["0.50"], "JPY", id="no amount of the currency"),
    ],
)
def test_shares_over_the_amount_are_rejected(amount, shares, currency):
    with pytest.raises(SharesExceedAmount):
        split_by_shares(Decimal(amount), [build_share(share) for share in shares], currency)
