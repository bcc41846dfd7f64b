"""Monthly recurring revenue: contract values at month ends, what each customer did, and rows that close.

`classify_customer_month` says what one customer did in one month. `MrrAggregator` sums many customers and months: it
classifies once for all who did the same, since price lists are short. Months are numbered: year x 12 + month - 1.

Values are decimals of 50 digits, not fractions: a hundred thousand customers over years stay fast. Noise
beyond the last digits is cut off before a value is compared with zero or rounded to a currency.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
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

History = Sequence[tuple[int, Contracts]]
"""One customer's contracts at the end of the months in which an event changed them, in order of time."""

ContractKey = tuple[tuple[str, Decimal], ...]
"""Contracts as a key: (currency, monthly value), ordered by currency."""

MOVEMENTS = ("new", "reactivate", "upgrade", "downgrade", "cancel", "currency")
"""The movements of a row. The last takes what rounding the others leaves over."""

ZERO = Decimal(0)
_LAST_NUMBER = 9999 * MONTHS_PER_YEAR + 11  # the calendar's last month


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
    at_these_rates = contract_value if current == previous else compute_contract_value(previous, factors)
    currency = MONEY_CONTEXT.subtract(at_these_rates, reported)
    difference = MONEY_CONTEXT.subtract(contract_value, at_these_rates)
    if not drop_rounding_noise(difference):
        return CustomerChange(None, ZERO, MONEY_CONTEXT.add(currency, difference), contract_value)
    return CustomerChange("upgrade" if difference > 0 else "downgrade", difference, currency, contract_value)


class CustomerMonth(NamedTuple):
    """What a customer held at the ends of last and this month, and whether they were active at an earlier end."""

    before: ContractKey
    after: ContractKey
    was_active_before: bool


@dataclass(slots=True)
class MovementTotals:
    """What all customers did in one month, in the base currency, not rounded; zero where nothing happened."""

    amounts: dict[str, Decimal] = field(default_factory=lambda: dict.fromkeys(MOVEMENTS, ZERO))
    counts: dict[str, int] = field(default_factory=lambda: dict.fromkeys(MOVEMENTS, 0))

    def add(self, name: str, amount: Decimal, count: int) -> None:
        """Add an amount and a number of customers to a movement."""
        self.amounts[name] = MONEY_CONTEXT.add(self.amounts[name], amount)
        self.counts[name] += count

    def add_change(self, change: CustomerChange, *, base: str, times: int = 1) -> None:
        """Add one customer's month, or that of `times` customers who did the same.

        An effect of rates counts from half a unit of `base` on.
        """
        if change.kind is not None:
            self.amounts[change.kind] = MONEY_CONTEXT.fma(change.amount, times, self.amounts[change.kind])
            self.counts[change.kind] += times
        if change.currency:
            self.amounts["currency"] = MONEY_CONTEXT.fma(change.currency, times, self.amounts["currency"])
            if 2 * abs(drop_rounding_noise(change.currency)) >= get_smallest_unit(base):
                self.counts["currency"] += times

    def __bool__(self) -> bool:
        return any(self.amounts.values()) or any(self.counts.values())


def to_month_number(day: date) -> int:
    """Return the number of the month of a day.

    >>> to_month_number(date(2024, 3, 31)) - to_month_number(date(2023, 12, 1))
    3
    """
    return day.year * MONTHS_PER_YEAR + day.month - 1


def from_month_number(number: int) -> date:
    """Return the first day of the month with a number.

    >>> from_month_number(to_month_number(date(2024, 3, 31))).isoformat()
    '2024-03-01'
    """
    return date(number // MONTHS_PER_YEAR, number % MONTHS_PER_YEAR + 1, 1)


class MrrAggregator:
    """Collects the histories of customers; `compute_totals` returns the movements of each month.

    A history added with `times=-1` is subtracted again, so that a change of one customer's events is the
    difference of two histories.

    >>> book = MrrAggregator("EUR")
    >>> book.add_history([(24288, {"EUR": Decimal(10)}), (24290, {})])
    >>> totals = book.compute_totals(get_factors=lambda number: {"EUR": Decimal(1)}, until=24288)
    >>> {from_month_number(number).isoformat(): str(found.amounts["cancel"]) for number, found in totals.items()}
    {'2024-01-01': '0', '2024-02-01': '0', '2024-03-01': '-10'}
    """

    def __init__(self, base: str) -> None:
        """Start without customers; amounts are computed in the currency `base`."""
        self.base = base
        self.currencies = {base}
        self._changes: defaultdict[int, Counter[CustomerMonth]] = defaultdict(Counter)
        # Customers who begin (+) or cease (-) to hold the same contracts as the month before, by month.
        self._unchanged: defaultdict[int, Counter[ContractKey]] = defaultdict(Counter)

    def add_history(self, history: History, *, times: int = 1) -> None:
        """Add one customer's history, or subtract it. Contracts of value 0 must be left out of it."""
        before: ContractKey = ()
        was_active = before_depends_on_rates = False
        for number, contracts in history:
            after = build_contract_key(contracts)
            if after == before:
                continue
            self.currencies.update(contracts)
            self._changes[number][CustomerMonth(before, after, was_active)] += times
            if before_depends_on_rates:
                self._unchanged[number][before] -= times
            before_depends_on_rates = not contracts.keys() <= {self.base}
            if before_depends_on_rates:
                self._unchanged[number + 1][after] += times
            before, was_active = after, True

    def compute_totals(self, *, get_factors: Callable[[int], Factors], until: int) -> dict[int, MovementTotals]:
        """Return month number -> movements, from the first change to the last one, at least to `until`.

        Empty where nobody ever subscribed.

        Args:
            until: the last month whose rates differ from the month before.

        Raises:
            MissingRate: a currency has no exchange rate.
        """
        if not self._changes:
            return {}
        last = min(max(*self._changes, *self._unchanged, until), _LAST_NUMBER)
        totals_by_month = {number: MovementTotals() for number in range(min(self._changes), last + 1)}
        unchanged: Counter[ContractKey] = Counter()
        for number, totals in totals_by_month.items():
            self._add_customer_months(totals, self._changes.get(number, {}).items(), number, get_factors)
            unchanged.update(self._unchanged.get(number))
            if any(unchanged.values()) and get_factors(number - 1) != get_factors(number):
                stays = ((CustomerMonth(key, key, True), times) for key, times in unchanged.items())
                self._add_customer_months(totals, stays, number, get_factors)
        return totals_by_month

    def _add_customer_months(
        self,
        totals: MovementTotals,
        customer_months: Iterable[tuple[CustomerMonth, int]],
        number: int,
        get_factors: Callable[[int], Factors],
    ) -> None:
        for (before, after, was_active_before), times in customer_months:
            if not times:
                continue
            previous = dict(before)
            change = classify_customer_month(
                previous=previous,
                current=previous if after is before else dict(after),
                reported=compute_contract_value(previous, get_factors(number - 1)) if before else ZERO,
                factors=get_factors(number),
                was_active_before=was_active_before,
            )
            totals.add_change(change, base=self.base, times=times)


def build_contract_key(contracts: Contracts) -> ContractKey:
    """Return the contracts as a key, whatever the order in which they were added."""
    return tuple(sorted(contracts.items()))


def build_history(events: Iterable[tuple[date, str, str, Decimal]]) -> list[tuple[int, Contracts]]:
    """Build one customer's history from events (day, subscription, currency, monthly value) in order of days.

    Of two events of one subscription on one day the later counts.

    >>> events = [(date(2024, 1, 5), "s", "EUR", Decimal(10)), (date(2024, 1, 9), "s", "EUR", Decimal(0))]
    >>> build_history(events)
    [(24288, {})]
    """
    live_contracts: dict[str, tuple[str, Decimal]] = {}
    history: list[tuple[int, Contracts]] = []
    current_number = None
    for day, subscription, currency, monthly in events:
        number = to_month_number(day)
        if current_number is not None and number != current_number:
            history.append((current_number, _sum_contracts(live_contracts)))
        live_contracts[subscription] = (currency, monthly)
        current_number = number
    if current_number is not None:
        history.append((current_number, _sum_contracts(live_contracts)))
    return history


def _sum_contracts(live_contracts: dict[str, tuple[str, Decimal]]) -> Contracts:
    contracts: dict[str, Decimal] = {}
    for currency, monthly in live_contracts.values():
        if monthly:
            held_amount = contracts.get(currency)
            contracts[currency] = monthly if held_amount is None else MONEY_CONTEXT.add(held_amount, monthly)
    return contracts


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
