"""How the recurring revenue of many customers moved, added up fast enough for a hundred thousand of them.

The same answers as ``analytics.calc.mrr`` customer by customer and month by month, in another order: amounts are added
up in their own currencies first, since at one month's rates worth is linear, and what rates did to customers who stayed
is worked out once for all who hold the same contracts. Months are numbered: year x 12 + month - 1.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal

from analytics.calc.mrr import MOVEMENTS, Contracts, Factors, Kind, value
from ledger.calc.money import WIDE, smallest_unit
from ledger.calc.months import MONTHS_A_YEAR
from ledger.subscriptions.calc import NOISE, cut

ZERO = Decimal(0)
_NO_CONTRACTS: Contracts = {}
_LAST_NUMBER = 9999 * MONTHS_A_YEAR + 11  # the calendar's last month
_CLEAR = Decimal("1e-4")  # native differences below this may be noise at some rates: those take the slow way

History = Sequence[tuple[int, Contracts]]
"""One customer's contracts at the end of the months in which an event changed them, in order of time."""

Shape = tuple[tuple[str, Decimal], ...]
"""Contracts as a key: (currency, monthly value), ordered by currency."""


@dataclass(slots=True)
class Totals:
    """One month's movements in the base currency, not rounded; what did not happen is zero."""

    amounts: dict[str, Decimal] = field(default_factory=lambda: dict.fromkeys(MOVEMENTS, ZERO))
    counts: dict[str, int] = field(default_factory=lambda: dict.fromkeys(MOVEMENTS, 0))

    def add(self, kind: str, amount: Decimal, count: int) -> None:
        self.amounts[kind] = WIDE.add(self.amounts[kind], amount)
        self.counts[kind] += count

    def __bool__(self) -> bool:
        return any(self.amounts.values()) or any(self.counts.values())


def number_of(day: date) -> int:
    """The number of the month around a day.

    >>> number_of(date(2024, 3, 31)) - number_of(date(2023, 12, 1))
    3
    """
    return day.year * MONTHS_A_YEAR + day.month - 1


def month_of(number: int) -> date:
    """The first day of the month with a number.

    >>> month_of(number_of(date(2024, 3, 31))).isoformat()
    '2024-03-01'
    """
    return date(number // MONTHS_A_YEAR, number % MONTHS_A_YEAR + 1, 1)


class Movements:
    """Collects customers' histories; ``totals`` then says what each month's movements were worth.

    A history taken in with ``times=-1`` takes away what it once added, so that a change of one customer's events is the
    difference of two histories.

    >>> book = Movements("EUR")
    >>> book.add([(24288, {"EUR": Decimal(10)}), (24290, {})])
    >>> totals = book.totals(factors_of=lambda number: {"EUR": Decimal(1)}, until=24288)
    >>> {month_of(number).isoformat(): str(found.amounts["cancel"]) for number, found in totals.items()}
    {'2024-01-01': '0', '2024-02-01': '0', '2024-03-01': '-10'}
    """

    def __init__(self, base: str) -> None:
        """Start with nobody. Raises UnknownCurrency."""
        self.base = base
        self.currencies = {base}
        self._half_unit = smallest_unit(base) / 2
        self._native: defaultdict[tuple[int, Kind, str], Decimal] = defaultdict(lambda: ZERO)
        self._counts: Counter[tuple[int, Kind]] = Counter()
        self._mixed: Counter[tuple[int, Shape, Shape]] = Counter()
        self._carried: Counter[tuple[int, Shape]] = Counter()  # who enters (+) or leaves (-) the staying ones, by month

    def add(self, history: History, *, times: int = 1) -> None:
        """Take in one customer's history, or take it away. Contracts without worth must be left out of it."""
        before, since, seen = _NO_CONTRACTS, 0, False
        for number, now in history:
            if now == before:
                continue
            if not before:
                self.currencies.update(now)
                self._sum(number, "reactivate" if seen else "new", now, times)
            else:
                self._carry(before, since + 1, number + 1 if now else number, times)
                if now:
                    self._alter(number, before, now, times)
                else:
                    self._sum(number, "cancel", before, -times, count=times)
            before, since, seen = now, number, True
        if before:
            self._carry(before, since + 1, None, times)

    def _sum(self, number: int, kind: Kind, contracts: Contracts, times: int, count: int | None = None) -> None:
        for currency, amount in contracts.items():
            key = (number, kind, currency)
            self._native[key] = WIDE.fma(amount, times, self._native[key])
        self._counts[number, kind] += times if count is None else count

    def _alter(self, number: int, before: Contracts, now: Contracts, times: int) -> None:
        """Up or down: at any rates alike within one currency, else to be judged at the month's rates."""
        self.currencies.update(now)
        if len(before) == 1 and before.keys() == now.keys():
            (currency,) = now
            difference = WIDE.subtract(now[currency], before[currency])
            if abs(difference) >= _CLEAR:
                kind: Kind = "upgrade" if difference > 0 else "downgrade"
                self._sum(number, kind, {currency: difference}, times)
                return
        self._mixed[number, shape(before), shape(now)] += times

    def _carry(self, contracts: Contracts, first: int, gone: int | None, times: int) -> None:
        """Rates move these contracts in the months from ``first`` to before ``gone``."""
        if gone == first or (len(contracts) == 1 and self.base in contracts):
            return
        held = shape(contracts)
        self._carried[first, held] += times
        if gone is not None:
            self._carried[gone, held] -= times

    def totals(self, *, factors_of: Callable[[int], Factors], until: int) -> dict[int, Totals]:
        """Month number -> its movements, for every month from the first change to the last one, at least to ``until``.

        ``until`` is the last month whose rates differ from the month before; empty where nobody ever subscribed. Raises
        MissingRate.
        """
        changes = {key[0] for table in (self._counts, self._mixed, self._carried) for key in table}
        if not changes:
            return {}
        last = min(max(*changes, until), _LAST_NUMBER)
        found = {number: Totals() for number in range(min(changes), last + 1)}
        for (number, kind, currency), amount in self._native.items():
            # A cancellation takes away what was reported: last month's value at last month's rates.
            factors = factors_of(number - 1 if kind == "cancel" else number)
            found[number].add(kind, value({currency: amount}, factors), 0)
        for (number, kind), count in self._counts.items():
            found[number].counts[kind] += count
        for (number, before, now), count in self._mixed.items():
            self._judge(found[number], before, now, count, factors_of(number))
        self._follow_rates(found, factors_of)
        return found

    def _judge(self, totals: Totals, before: Shape, now: Shape, count: int, factors: Factors) -> None:
        difference = WIDE.subtract(value(dict(now), factors), value(dict(before), factors))
        noticed = cut(difference)
        kind = "upgrade" if noticed > 0 else "downgrade" if noticed < 0 else "currency"
        totals.add(kind, WIDE.multiply(difference, Decimal(count)), count if noticed else 0)

    def _follow_rates(self, found: dict[int, Totals], factors_of: Callable[[int], Factors]) -> None:
        """What rates did to those who stayed, worked out once for all who hold the same contracts."""
        arrivals: defaultdict[int, list[tuple[Shape, int]]] = defaultdict(list)
        for (number, held), times in self._carried.items():
            arrivals[number].append((held, times))
        staying = Staying(self._half_unit)
        for number, totals in found.items():
            for held, times in arrivals[number]:
                staying.add(held, times)
            if not staying:
                continue
            before, now = factors_of(number - 1), factors_of(number)
            moves = {
                currency: WIDE.subtract(now[currency], before[currency])
                for currency in self.currencies
                if now[currency] != before[currency]
            }
            if moves:
                amount, count = staying.moved(moves)
                totals.add("currency", amount, count)


class Staying:
    """Who holds which contracts while rates move."""

    def __init__(self, half_unit: Decimal) -> None:
        """``half_unit`` is the least movement of a customer that counts."""
        self._half_unit = half_unit
        self._single: defaultdict[str, Counter[Decimal]] = defaultdict(Counter)  # currency -> amount -> customers
        self._several: Counter[Shape] = Counter()

    def add(self, held: Shape, times: int) -> None:
        """So many more hold these contracts, or fewer."""
        (currency, amount) = held[0]
        table, key = (self._several, held) if len(held) > 1 else (self._single[currency], amount)
        table[key] += times  # type: ignore[index]
        if not table[key]:  # type: ignore[index]
            del table[key]

    def __bool__(self) -> bool:
        return bool(self._several) or any(self._single.values())

    def moved(self, moves: dict[str, Decimal]) -> tuple[Decimal, int]:
        """(sum of what the rates did, customers to whom they did at least half a unit), given each rate's move."""
        moved, count = ZERO, 0
        for currency, move in moves.items():
            amounts = self._single.get(currency)
            if amounts:
                native = ZERO
                for amount, times in amounts.items():
                    native = WIDE.fma(amount, times, native)
                moved = WIDE.fma(native, move, moved)
                least = WIDE.divide(self._half_unit - NOISE / 2, abs(move))
                count += sum(times for amount, times in amounts.items() if amount >= least)
        for held, times in self._several.items():
            change = ZERO
            for currency, amount in held:
                change = WIDE.fma(amount, moves.get(currency, ZERO), change)
            moved = WIDE.fma(change, times, moved)
            if abs(cut(change)) >= self._half_unit:
                count += times
        return moved, count


def shape(contracts: Contracts) -> Shape:
    """The contracts as a key, whatever the order in which they were added."""
    return tuple(sorted(contracts.items()))


def history_of(events: Iterable[tuple[date, str, str, Decimal]]) -> list[tuple[int, Contracts]]:
    """One customer's history from events (day, subscription, currency, monthly value) in the order of days.

    Of two events of one subscription on one day the later counts.

    >>> events = [(date(2024, 1, 5), "s", "EUR", Decimal(10)), (date(2024, 1, 9), "s", "EUR", Decimal(0))]
    >>> history_of(events)
    [(24288, {})]
    """
    live: dict[str, tuple[str, Decimal]] = {}
    history: list[tuple[int, Contracts]] = []
    under_way = None
    for day, subscription, currency, monthly in events:
        number = day.year * MONTHS_A_YEAR + day.month - 1
        if under_way is not None and number != under_way:
            history.append((under_way, _contracts(live)))
        live[subscription] = (currency, monthly)
        under_way = number
    if under_way is not None:
        history.append((under_way, _contracts(live)))
    return history


def _contracts(live: dict[str, tuple[str, Decimal]]) -> Contracts:
    contracts: dict[str, Decimal] = {}
    for currency, monthly in live.values():
        if monthly:
            held = contracts.get(currency)
            contracts[currency] = monthly if held is None else WIDE.add(held, monthly)
    return contracts
