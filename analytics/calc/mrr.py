"""Monthly recurring revenue: what contracts are worth at each month's end, what each customer did, and rows that close.

Values are decimals of 50 digits, not fractions: a hundred thousand customers over years stay fast. Before anything is
compared with zero or rounded to a currency its noise is cut off.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import date
from decimal import Decimal
from typing import Any, Literal, NamedTuple

from ledger.calc.fx import MissingRate
from ledger.calc.money import WIDE, round_half_up, smallest_unit
from ledger.calc.months import MONTHS_A_YEAR
from ledger.subscriptions.calc import cut

Kind = Literal["new", "reactivate", "upgrade", "downgrade", "cancel"]

Contracts = Mapping[str, Decimal]
"""One customer's contracts at the end of a month: currency -> monthly value in that currency, without rates."""

Factors = Mapping[str, Decimal]
"""At the end of a month: currency -> units of the base currency for one of it; the base currency included, at 1."""

MOVEMENTS = ("new", "reactivate", "upgrade", "downgrade", "cancel", "currency")
"""The movements of a row. The last takes what rounding the others leaves over."""

ZERO = Decimal(0)


def value(contracts: Contracts, factors: Factors) -> Decimal:
    """What the contracts are worth in the base currency, not rounded. Raises MissingRate.

    >>> value({"EUR": Decimal(10), "USD": Decimal(5)}, {"EUR": Decimal(1), "USD": Decimal("0.8")})
    Decimal('14.0')
    """
    total = ZERO
    for currency, amount in contracts.items():
        factor = factors.get(currency)
        if factor is None:
            raise MissingRate(currency)
        total = WIDE.fma(amount, factor, total)
    return total


class Change(NamedTuple):
    """What one customer did in one month, in the base currency, not rounded.

    ``kind`` is None when nothing but rates moved. ``amount`` belongs to ``kind``; downgrade and cancel are negative.
    ``currency`` is what rates did to a customer who stayed. ``value`` is what the contracts are worth at the end.
    """

    kind: Kind | None
    amount: Decimal
    currency: Decimal
    value: Decimal


def classify(*, before: Contracts, now: Contracts, reported: Decimal, factors: Factors, seen: bool) -> Change:
    """One customer's month: ``before`` and ``now`` are the contracts at the ends of last and this month.

    ``reported`` is last month's value at last month's rates, ``factors`` are this month's, ``seen`` says whether the
    customer was active at any earlier month's end. Rates never make an upgrade or a downgrade: those compare this and
    last month's contracts at the same rates. A cancellation takes away what was reported. Raises MissingRate.

    >>> classify(before={"USD": Decimal(10)}, now={"USD": Decimal(20)}, reported=Decimal(9),
    ...          factors={"USD": Decimal("0.8")}, seen=True)
    Change(kind='upgrade', amount=Decimal('8.0'), currency=Decimal('-1.0'), value=Decimal('16.0'))
    """
    was_active, is_active = any(before.values()), any(now.values())
    if not is_active:
        return Change("cancel" if was_active else None, -reported, ZERO, ZERO)
    worth = value(now, factors)
    if not was_active:
        return Change("reactivate" if seen else "new", worth, ZERO, worth)
    at_these_rates = value(before, factors)
    currency = WIDE.subtract(at_these_rates, reported)
    difference = WIDE.subtract(worth, at_these_rates)
    if not cut(difference):
        return Change(None, ZERO, WIDE.add(currency, difference), worth)
    return Change("upgrade" if difference > 0 else "downgrade", difference, currency, worth)


class Tally:
    """Adds up what all customers did in one month, not rounded."""

    __slots__ = ("_half_unit", "amounts", "counts")

    def __init__(self, base: str) -> None:
        """Start at nothing. ``base`` decides from which size on a currency movement counts. Raises UnknownCurrency."""
        self.amounts = dict.fromkeys(MOVEMENTS, ZERO)
        self.counts = dict.fromkeys(MOVEMENTS, 0)
        self._half_unit = smallest_unit(base) / 2

    def add(self, change: Change, *, times: int = 1) -> None:
        """Count one customer's month, or that of so many who did the same."""
        if change.kind is not None:
            self.amounts[change.kind] = WIDE.fma(change.amount, times, self.amounts[change.kind])
            self.counts[change.kind] += times
        if change.currency:
            self.amounts["currency"] = WIDE.fma(change.currency, times, self.amounts["currency"])
            if abs(cut(change.currency)) >= self._half_unit:
                self.counts["currency"] += times


@dataclass(frozen=True, slots=True)
class MonthlyRow:
    """One month of recurring revenue in the base currency, in exactly its decimals; counts are distinct customers.

    ``currency`` is what exchange rates did, and takes the cents that rounding leaves over.

    start + new + reactivate + upgrade + downgrade + cancel + currency = end, and
    start_count + new_count + reactivate_count - cancel_count = end_count.
    """

    month: date
    start: Decimal
    start_count: int
    new: Decimal
    new_count: int
    reactivate: Decimal
    reactivate_count: int
    upgrade: Decimal
    upgrade_count: int
    downgrade: Decimal
    downgrade_count: int
    cancel: Decimal
    cancel_count: int
    currency: Decimal
    currency_count: int
    end: Decimal
    end_count: int


_AMOUNTS = ("start", *MOVEMENTS, "end")


def close_row(
    *,
    month: date,
    base: str,
    start: Decimal,
    start_count: int,
    end: Decimal,
    amounts: Mapping[str, Decimal],
    counts: Mapping[str, int],
) -> MonthlyRow:
    """Round a month half up to the base currency so that its row still adds up exactly.

    Every movement is its exact sum, rounded. What rounding leaves over goes to ``currency``, so a movement of customers
    who pay in the base currency never carries a cent that is not theirs.

    Args:
        start, end: recurring revenue at the ends of the month before and of this one, not rounded.
        amounts, counts: by movement, an absent one being zero; amounts are not rounded.

    Raises:
        UnknownCurrency: ``base`` is no currency.
        ValueError: the movements miss the end by more than the rounding of start and end explains.

    >>> halves = {"new": Decimal("0.005"), "upgrade": Decimal("0.005")}
    >>> row = close_row(month=date(2024, 1, 1), base="EUR", start=Decimal(0), start_count=0, end=Decimal("0.01"),
    ...                 amounts=halves, counts={"new": 1})
    >>> str(row.new), str(row.upgrade), str(row.currency), str(row.end), row.end_count
    ('0.01', '0.01', '-0.01', '0.01', 1)
    """
    exact = {name: cut(amounts.get(name, ZERO)) for name in MOVEMENTS}
    start, end = cut(start), cut(end)
    if abs(start + sum(exact.values()) - end) > smallest_unit(base):
        raise ValueError(f"The movements of {month} do not lead from {start} to {end}.")
    rounded = {name: round_half_up(amount, base) for name, amount in exact.items() if name != "currency"}
    start, end = round_half_up(start, base), round_half_up(end, base)
    rounded["currency"] = end - start - sum(rounded.values())
    numbers = {name: counts.get(name, 0) for name in MOVEMENTS}
    movements: dict[str, Any] = rounded | {f"{name}_count": number for name, number in numbers.items()}
    return MonthlyRow(
        month=month,
        start=start,
        start_count=start_count,
        end=end,
        end_count=start_count + numbers["new"] + numbers["reactivate"] - numbers["cancel"],
        **movements,
    )


def annual(row: MonthlyRow) -> MonthlyRow:
    """The row of annual recurring revenue: twelve times each rounded amount, the same customers."""
    return replace(row, **{name: getattr(row, name) * MONTHS_A_YEAR for name in _AMOUNTS})
