"""Parts of a change are rounded so that they add up to it."""

from decimal import Decimal

from hypothesis import given
from hypothesis import strategies as st

from analytics.calc.bridge_rounding import round_bridge_parts
from ledger.money.calc.money import round_half_up

AMOUNTS = st.decimals(-10_000, 10_000, places=4)


@given(parts=st.lists(AMOUNTS, min_size=1, max_size=5), base=st.sampled_from(["EUR", "JPY"]))
def test_rounded_parts_sum_to_rounded_change_adjusting_only_first_part(parts, base):
    named = {str(n): part for n, part in enumerate(parts)}
    change = round_half_up(sum(parts, Decimal(0)), base)
    results = round_bridge_parts(named, change=change, base=base)
    assert sum(results.values()) == change
    first = next((name for name, part in named.items() if part), "0")
    assert all(results[name] == round_half_up(part, base) for name, part in named.items() if name != first)


def test_bridge_parts_below_a_cent_stay_zero():
    parts = {"rates": Decimal("1e-40"), "in": Decimal("0.004"), "out": Decimal("0.004")}
    assert round_bridge_parts(parts, change=Decimal("0.01"), base="EUR") == {
        "rates": 0, "in": Decimal("0.01"), "out": 0,
    }  # fmt: skip


def test_first_part_takes_the_change_if_all_parts_are_zero():
    assert round_bridge_parts({"rates": Decimal(0), "in": Decimal(0)}, change=Decimal("0.01"), base="EUR") == {
        "rates": Decimal("0.01"), "in": 0,
    }  # fmt: skip
