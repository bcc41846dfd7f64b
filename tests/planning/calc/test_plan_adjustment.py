"""What is added to a cell of the plan so that it reads as it was typed."""

from decimal import Decimal, localcontext

from hypothesis import given
from hypothesis import strategies as st

from ledger.money.calc.money import round_half_up
from planning.calc.plan_adjustment import compute_adjustment


@given(st.decimals(-9999, 9999, places=2), st.decimals(-9999, 9999, places=7), st.sampled_from(["EUR", "JPY"]))
def test_adjustment_makes_cell_total_equal_typed_amount(typed, others, currency):
    typed = round_half_up(typed, currency)
    adjustment = compute_adjustment(typed, other_items=others, currency=currency)
    assert round_half_up(adjustment, currency) == adjustment
    assert round_half_up(others + adjustment, currency) == typed


def test_adjustment_does_not_depend_on_decimal_precision():
    with localcontext(prec=2):
        assert compute_adjustment(Decimal("1234.56"), other_items=Decimal("0.005"), currency="EUR") == Decimal(
            "1234.55"
        )
