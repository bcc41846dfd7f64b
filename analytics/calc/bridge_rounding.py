"""Rounding of the parts of a bridge so that they add up exactly."""

from collections.abc import Mapping
from decimal import Decimal

from ledger.money.calc.money import round_half_up
from ledger.subscriptions.calc.monthly_value import drop_rounding_noise


def round_bridge_parts(parts: Mapping[str, Decimal], *, change: Decimal, base: str) -> dict[str, Decimal]:
    """Round parts half up so that together they are `change`, which is rounded already.

    The remainder goes to the first part that is not zero.

    Raises:
        UnknownCurrency: `base` is no currency.

    >>> parts = {"rates": Decimal("0.001"), "in": Decimal("1.004"), "out": Decimal("-0.505")}
    >>> {name: str(part) for name, part in round_bridge_parts(parts, change=Decimal("0.50"), base="EUR").items()}
    {'rates': '0.01', 'in': '1.00', 'out': '-0.51'}
    """
    exact = {name: drop_rounding_noise(part) for name, part in parts.items()}
    rounded = {name: round_half_up(part, base) for name, part in exact.items()}
    remainder = change - sum(rounded.values())
    if remainder:
        rounded[next((name for name, part in exact.items() if part), next(iter(exact)))] += remainder
    return rounded
