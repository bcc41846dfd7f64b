"""Monthly recurring revenue: contract values at month ends, what each customer did, and rows that close.

Values are decimals of 50 digits, not fractions: a hundred thousand customers over years stay fast. Noise
beyond the last digits is cut off before a value is compared with zero or rounded to a currency.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import date
from decimal import Decimal
from typing import Any, Literal, NamedTuple

from ledger.calc.months import MONTHS_PER_YEAR
from ledger.money.calc.fx import RateLookupError
from ledger.money.calc.money import MONEY_CONTEXT, get_smallest_unit, round_half_up
from ledger.subscriptions.calc.monthly_value import drop_rounding_noise

Kind = Literal["new", "reactivate", "upgrade", "downgrade", "cancel"]

Contracts = Mapping[str, Decimal]
"""One customer's contracts at the end of a month: currency -> monthly value in that currency, without rates."""

Factors = Mapping[str, Decimal]
"""At the end of a month: currency -> units of the base currency for one of it; the base currency included, at 1."""

MOVEMENTS = ("new", "reactivate", "upgrade", "downgrade", "cancel", "currency")
"""The movements of a row. The last takes what rounding the others leaves over."""

ZERO = Decimal(0)


def compute_contract_value(contracts: Contracts, factors: Factors) -> Decimal:
    """Compute the value of contracts in the base currency; not rounded.

    Raises:
        MissingRate: a currency has no factor.

    >>> compute_contract_value({"EUR": Decimal(10), "USD": Decimal(5)}, {"EUR": Decimal(1), "USD": Decimal("0.8")})
    Decimal('14.0')
    """
    total = ZERO
    for currency, amount in contracts.items():
        factor = factors.get(currency)
        if factor is None:
            raise RateLookupError(currency)
        total = MONEY_CONTEXT.fma(amount, factor, total)
    return total


class CustomerChange(NamedTuple):
    """What one customer did in one month, in the base currency, not rounded.

    `kind` is None if only rates changed. `amount` belongs to `kind`; downgrade and cancel are negative.
    `currency` is the effect of rates on a customer who stayed. `value` is the value of the contracts at the
    end.
    """

    kind: Kind | None
    amount: Decimal
    currency: Decimal
    value: Decimal


def classify_customer_month(
    *, previous: Contracts, current: Contracts, reported: Decimal, factors: Factors, was_active_before: bool
) -> CustomerChange:
    """Classify one customer's month by the contracts at the ends of last (`previous`) and this month (`current`).

    Rates never make an upgrade or downgrade: those compare both months' contracts at the same rates. A
    cancellation takes away what was reported.

    Args:
        reported: last month's value at last month's rates.
        factors: this month's rates.
        was_active_before: whether the customer was active at an earlier month's end.

    Raises:
        MissingRate: a currency has no factor.

    >>> classify_customer_month(previous={"USD": Decimal(10)}, current={"USD": Decimal(20)}, reported=Decimal(9),
    ...          factors={"USD": Decimal("0.8")}, was_active_before=True)
    CustomerChange(kind='upgrade', amount=Decimal('8.0'), currency=Decimal('-1.0'), value=Decimal('16.0'))
    """
    was_active, is_active = any(previous.values()), any(current.values())
    if not is_active:
        return CustomerChange("cancel" if was_active else None, -reported, ZERO, ZERO)
    contract_value = compute_contract_value(current, factors)
    if not was_active:
        return CustomerChange("reactivate" if was_active_before else "new", contract_value, ZERO, contract_value)
    at_these_rates = compute_contract_value(previous, factors)
    currency = MONEY_CONTEXT.subtract(at_these_rates, reported)
    difference = MONEY_CONTEXT.subtract(contract_value, at_these_rates)
    if not drop_rounding_noise(difference):
        return CustomerChange(None, ZERO, MONEY_CONTEXT.add(currency, difference), contract_value)
    return CustomerChange("upgrade" if difference > 0 else "downgrade", difference, currency, contract_value)


class MovementTally:
    """Sums what all customers did in one month, not rounded."""

    __slots__ = ("_half_unit", "amounts", "counts")

    def __init__(self, base: str) -> None:
        """Start at zero; `base` decides from which size on a currency effect counts.

        Raises:
            UnknownCurrency: `base` is no currency.
        """
        self.amounts = dict.fromkeys(MOVEMENTS, ZERO)
        self.counts = dict.fromkeys(MOVEMENTS, 0)
        self._half_unit = get_smallest_unit(base) / 2

    def add_change(self, change: CustomerChange, *, times: int = 1) -> None:
        """Add one customer's month, or that of `times` customers who did the same."""
        if change.kind is not None:
            self.amounts[change.kind] = MONEY_CONTEXT.fma(change.amount, times, self.amounts[change.kind])
            self.counts[change.kind] += times
        if change.currency:
            self.amounts["currency"] = MONEY_CONTEXT.fma(change.currency, times, self.amounts["currency"])
            if abs(drop_rounding_noise(change.currency)) >= self._half_unit:
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


def round_monthly_row(
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
    >>> row = round_monthly_row(month=date(2024, 1, 1), base="EUR", start=Decimal(0), start_count=0,
    ...                         end=Decimal("0.01"), amounts=halves, counts={"new": 1})
    >>> str(row.new), str(row.upgrade), str(row.currency), str(row.end), row.end_count
    ('0.01', '0.01', '-0.01', '0.01', 1)
    """
    exact = {name: drop_rounding_noise(amounts.get(name, ZERO)) for name in MOVEMENTS}
    start, end = drop_rounding_noise(start), drop_rounding_noise(end)
    if abs(start + sum(exact.values()) - end) > get_smallest_unit(base):
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


def to_annual_row(row: MonthlyRow) -> MonthlyRow:
    """Convert a row to annual recurring revenue: twelve times each rounded amount, the same customers."""
    return replace(row, **{name: getattr(row, name) * MONTHS_PER_YEAR for name in _AMOUNTS})
