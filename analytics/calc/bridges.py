"""What leads from one amount to another, shown in parts that add up exactly."""

from collections.abc import Mapping
from decimal import Decimal

from ledger.calc.money import round_half_up
from ledger.subscriptions.calc import cut


def closing(parts: Mapping[str, Decimal], *, change: Decimal, base: str) -> dict[str, Decimal]:
    """The parts rounded half-up so that together they are the change, which is rounded already.

    The cents that rounding leaves go to the first of the parts that is not zero, so put first what nobody can look up
    elsewhere. Raises UnknownCurrency.

    >>> parts = {"rates": Decimal("0.001"), "in": Decimal("1.004"), "out": Decimal("-0.505")}
    >>> {name: str(part) for name, part in closing(parts, change=Decimal("0.50"), base="EUR").items()}
    {'rates': '0.01', 'in': '1.00', 'out': '-0.51'}
    """
    exact = {name: cut(part) for name, part in parts.items()}
    rounded = {name: round_half_up(part, base) for name, part in exact.items()}
    remainder = change - sum(rounded.values())
    if remainder:
        rounded[next((name for name, part in exact.items() if part), next(iter(exact)))] += remainder
    return rounded
