"""Movements of recurring revenue summed over many customers, fast enough for a hundred thousand of them.

The results equal those of `analytics.calc.mrr` customer by customer and month by month. Amounts are added
up in their own currencies first, since conversion is linear within a month, and the effect of rates on
staying customers is computed once for all who hold the same contracts. Months are numbered: year x 12 +
month - 1.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal

from analytics.calc.mrr import MOVEMENTS, Contracts, Factors, Kind, compute_contract_value
from ledger.calc.months import MONTHS_PER_YEAR
from ledger.money.calc.money import MONEY_CONTEXT, get_smallest_unit
from ledger.subscriptions.calc.monthly_value import NOISE_QUANTUM, drop_rounding_noise

ZERO = Decimal(0)
_NO_CONTRACTS: Contracts = {}
_LAST_NUMBER = 9999 * MONTHS_PER_YEAR + 11  # the calendar's last month
_CLEAR = Decimal("1e-4")  # smaller differences may be noise at some rates, and are classified at the month's rates

History = Sequence[tuple[int, Contracts]]
"""One customer's contracts at the end of the months in which an event changed them, in order of time."""

ContractKey = tuple[tuple[str, Decimal], ...]
"""Contracts as a key: (currency, monthly value), ordered by currency."""


@dataclass(slots=True)
class MovementTotals:
    """One month's movements in the base currency, not rounded; zero where nothing happened."""

    amounts: dict[str, Decimal] = field(default_factory=lambda: dict.fromkeys(MOVEMENTS, ZERO))
    counts: dict[str, int] = field(default_factory=lambda: dict.fromkeys(MOVEMENTS, 0))

    def add(self, kind: str, amount: Decimal, count: int) -> None:
        self.amounts[kind] = MONEY_CONTEXT.add(self.amounts[kind], amount)
        self.counts[kind] += count

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
    >>> totals = book.compute_totals(factors_of=lambda number: {"EUR": Decimal(1)}, until=24288)
    >>> {from_month_number(number).isoformat(): str(found.amounts["cancel"]) for number, found in totals.items()}
    {'2024-01-01': '0', '2024-02-01': '0', '2024-03-01': '-10'}
    """

    def __init__(self, base: str) -> None:
        """Start without customers.

        Raises:
            UnknownCurrency: `base` is no currency.
        """
        self.base = base
        self.currencies = {base}
        self._half_unit = get_smallest_unit(base) / 2
        self._native: defaultdict[tuple[int, Kind, str], Decimal] = defaultdict(lambda: ZERO)
        self._counts: Counter[tuple[int, Kind]] = Counter()
        self._mixed: Counter[tuple[int, ContractKey, ContractKey]] = Counter()
        self._carried: Counter[tuple[int, ContractKey]] = Counter()  # customers who join (+) or leave (-), by month

    def add_history(self, history: History, *, times: int = 1) -> None:
        """Add one customer's history, or subtract it. Contracts of value 0 must be left out of it."""
        before, since_number, was_active = _NO_CONTRACTS, 0, False
        for number, contracts in history:
            if contracts == before:
                continue
            if not before:
                self.currencies.update(contracts)
                self._add_movement(number, "reactivate" if was_active else "new", contracts, times)
            else:
                self._add_rate_months(before, since_number + 1, number + 1 if contracts else number, times)
                if contracts:
                    self._add_change(number, before, contracts, times)
                else:
                    self._add_movement(number, "cancel", before, -times, count=times)
            before, since_number, was_active = contracts, number, True
        if before:
            self._add_rate_months(before, since_number + 1, None, times)

    def _add_movement(
        self, number: int, kind: Kind, contracts: Contracts, times: int, count: int | None = None
    ) -> None:
        for currency, amount in contracts.items():
            key = (number, kind, currency)
            self._native[key] = MONEY_CONTEXT.fma(amount, times, self._native[key])
        self._counts[number, kind] += times if count is None else count

    def _add_change(self, number: int, before: Contracts, now: Contracts, times: int) -> None:
        """Add an upgrade or downgrade; across currencies it is classified later, at the month's rates."""
        self.currencies.update(now)
        if len(before) == 1 and before.keys() == now.keys():
            (currency,) = now
            difference = MONEY_CONTEXT.subtract(now[currency], before[currency])
            if abs(difference) >= _CLEAR:
                kind: Kind = "upgrade" if difference > 0 else "downgrade"
                self._add_movement(number, kind, {currency: difference}, times)
                return
        self._mixed[number, build_contract_key(before), build_contract_key(now)] += times

    def _add_rate_months(self, contracts: Contracts, first: int, end_number: int | None, times: int) -> None:
        """Note that rates change these contracts in the months from `first` to before `end_number`."""
        if end_number == first or (len(contracts) == 1 and self.base in contracts):
            return
        contract_key = build_contract_key(contracts)
        self._carried[first, contract_key] += times
        if end_number is not None:
            self._carried[end_number, contract_key] -= times

    def compute_totals(self, *, factors_of: Callable[[int], Factors], until: int) -> dict[int, MovementTotals]:
        """Return month number -> movements, from the first change to the last one, at least to `until`.

        Empty where nobody ever subscribed.

        Args:
            until: the last month whose rates differ from the month before.

        Raises:
            MissingRate: a currency has no exchange rate.
        """
        changes = {key[0] for table in (self._counts, self._mixed, self._carried) for key in table}
        if not changes:
            return {}
        last = min(max(*changes, until), _LAST_NUMBER)
        totals_by_month = {number: MovementTotals() for number in range(min(changes), last + 1)}
        for (number, kind, currency), amount in self._native.items():
            # A cancellation subtracts what was reported: last month's value at last month's rates.
            factors = factors_of(number - 1 if kind == "cancel" else number)
            totals_by_month[number].add(kind, compute_contract_value({currency: amount}, factors), 0)
        for (number, kind), count in self._counts.items():
            totals_by_month[number].counts[kind] += count
        for (number, before, now), count in self._mixed.items():
            self._classify_change(totals_by_month[number], before, now, count, factors_of(number))
        self._add_rate_effects(totals_by_month, factors_of)
        return totals_by_month

    def _classify_change(
        self, totals: MovementTotals, before: ContractKey, now: ContractKey, count: int, factors: Factors
    ) -> None:
        difference = MONEY_CONTEXT.subtract(
            compute_contract_value(dict(now), factors), compute_contract_value(dict(before), factors)
        )
        exact_difference = drop_rounding_noise(difference)
        kind = "upgrade" if exact_difference > 0 else "downgrade" if exact_difference < 0 else "currency"
        totals.add(kind, MONEY_CONTEXT.multiply(difference, Decimal(count)), count if exact_difference else 0)

    def _add_rate_effects(
        self, totals_by_month: dict[int, MovementTotals], factors_of: Callable[[int], Factors]
    ) -> None:
        """Add what rates did to staying customers, computed once for all who hold the same contracts."""
        arrivals: defaultdict[int, list[tuple[ContractKey, int]]] = defaultdict(list)
        for (number, contract_key), times in self._carried.items():
            arrivals[number].append((contract_key, times))
        staying = StayingCustomers(self._half_unit)
        for number, totals in totals_by_month.items():
            for contract_key, times in arrivals[number]:
                staying.add(contract_key, times)
            if not staying:
                continue
            before, now = factors_of(number - 1), factors_of(number)
            moves = {
                currency: MONEY_CONTEXT.subtract(now[currency], before[currency])
                for currency in self.currencies
                if now[currency] != before[currency]
            }
            if moves:
                amount, count = staying.compute_rate_effect(moves)
                totals.add("currency", amount, count)


class StayingCustomers:
    """Counts which contracts customers hold while rates change."""

    def __init__(self, half_unit: Decimal) -> None:
        """Start without customers; `half_unit` is the smallest effect that counts for a customer."""
        self._half_unit = half_unit
        self._single: defaultdict[str, Counter[Decimal]] = defaultdict(Counter)  # currency -> amount -> customers
        self._several: Counter[ContractKey] = Counter()

    def add(self, contract_key: ContractKey, times: int) -> None:
        """Add customers who hold these contracts, or subtract them."""
        (currency, amount) = contract_key[0]
        table, key = (self._several, contract_key) if len(contract_key) > 1 else (self._single[currency], amount)
        table[key] += times  # type: ignore[index]
        if not table[key]:  # type: ignore[index]
            del table[key]

    def __bool__(self) -> bool:
        return bool(self._several) or any(self._single.values())

    def compute_rate_effect(self, moves: dict[str, Decimal]) -> tuple[Decimal, int]:
        """Return (sum of the effect of rates, customers affected by at least half a unit) for changes by currency."""
        effect, count = ZERO, 0
        for currency, move in moves.items():
            amounts = self._single.get(currency)
            if amounts:
                native = ZERO
                for amount, times in amounts.items():
                    native = MONEY_CONTEXT.fma(amount, times, native)
                effect = MONEY_CONTEXT.fma(native, move, effect)
                smallest_amount = MONEY_CONTEXT.divide(self._half_unit - NOISE_QUANTUM / 2, abs(move))
                count += sum(times for amount, times in amounts.items() if amount >= smallest_amount)
        for contract_key, times in self._several.items():
            change = ZERO
            for currency, amount in contract_key:
                change = MONEY_CONTEXT.fma(amount, moves.get(currency, ZERO), change)
            effect = MONEY_CONTEXT.fma(change, times, effect)
            if abs(drop_rounding_noise(change)) >= self._half_unit:
                count += times
        return effect, count


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
        number = day.year * MONTHS_PER_YEAR + day.month - 1
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
