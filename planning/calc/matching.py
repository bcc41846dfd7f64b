"""Which movements could be what was expected: the same direction, near in time and near in amount."""

import datetime as dt
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import NamedTuple
from uuid import UUID

from ledger.calc.fx import MissingRate, RateTable, convert
from ledger.calc.money import round_half_up

NEARLY = Decimal("1.01")  # there and back through two rates may lose the last digit


class Awaited(NamedTuple):
    """One open occurrence; without an account it may come on any."""

    planned_id: UUID
    original_date: dt.date
    date: dt.date
    amount: Decimal
    currency: str
    account_id: UUID | None


class Booked(NamedTuple):
    """One movement that settles nothing yet."""

    id: UUID
    date: dt.date
    amount: Decimal
    currency: str
    account_id: UUID


@dataclass(frozen=True, slots=True)
class Match:
    """A movement for an occurrence: how many days lie between them, and what it brings more than was expected.

    ``difference`` is in the currency of what was expected: -5 where 105 went out for 100, or 95 came in for 100.
    """

    awaited: Awaited
    booked: Booked
    days: int
    difference: Decimal


def matches(
    awaited: Iterable[Awaited],
    booked: Iterable[Booked],
    *,
    most_days: int,
    tolerance: Decimal = Decimal(0),
    rates: RateTable | None = None,
    refused: Container[tuple[UUID, UUID, dt.date]] = (),
) -> list[Match]:
    """Pairs, the nearest days first, then the nearest amounts; each occurrence and each movement in one at most.

    Movements of other currencies are compared at their day's rate, where there are ``rates`` and one of the currency.
    What is ``refused``, by movement, plan and original date, is no pair.

    >>> rent = Awaited(UUID(int=1), dt.date(2024, 1, 31), dt.date(2024, 1, 31), Decimal(-100), "EUR", None)
    >>> paid = Booked(UUID(int=2), dt.date(2024, 2, 2), Decimal(-105), "EUR", UUID(int=3))
    >>> [(pair.days, pair.difference) for pair in matches([rent], [paid], most_days=10, tolerance=Decimal("0.1"))]
    [(2, Decimal('-5.00'))]
    """
    by_day: defaultdict[dt.date, defaultdict[str, list[Booked]]] = defaultdict(lambda: defaultdict(list))
    for row in sorted(booked, key=of_amount):
        by_day[row.date][row.currency].append(row)
    found = [
        match
        for each in awaited
        for day in around(each.date, most_days)
        if day in by_day
        for currency, rows in by_day[day].items()
        for match in fitting(each, rows, currency, tolerance=tolerance, rates=rates)
        if (match.booked.id, each.planned_id, each.original_date) not in refused
    ]
    found.sort(key=nearness)
    return list(each_once(found))


def nearness(match: Match) -> tuple[int, Decimal, dt.date, UUID, UUID]:
    """What comes first; two pairs never stand equal."""
    awaited = match.awaited
    return match.days, abs(match.difference), awaited.original_date, awaited.planned_id, match.booked.id


def each_once(found: Iterable[Match]) -> Iterator[Match]:
    occurrences: set[tuple[UUID, dt.date]] = set()
    movements: set[UUID] = set()
    for match in found:
        occurrence = (match.awaited.planned_id, match.awaited.original_date)
        if occurrence not in occurrences and match.booked.id not in movements:
            occurrences.add(occurrence)
            movements.add(match.booked.id)
            yield match


def fitting(
    awaited: Awaited, rows: Sequence[Booked], currency: str, *, tolerance: Decimal, rates: RateTable | None
) -> Iterator[Match]:
    """The movements of one day and currency, ordered by amount, that could be it."""
    margin = abs(awaited.amount) * tolerance
    known = worth(awaited.amount, awaited.currency, currency, day=rows[0].date, rates=rates)
    if not known:  # nothing is expected, or nobody knows what it is in this currency
        return
    reach = abs(known) * tolerance * NEARLY
    start = bisect_left(rows, known - reach, key=of_amount)
    stop = bisect_right(rows, known + reach, key=of_amount)
    for row in rows[start:stop]:
        if awaited.account_id not in (None, row.account_id):
            continue
        difference = (worth(row.amount, currency, awaited.currency, day=row.date, rates=rates) or 0) - awaited.amount
        if abs(difference) <= margin:
            yield Match(awaited, row, abs((row.date - awaited.date).days), round_half_up(difference, awaited.currency))


def worth(amount: Decimal, source: str, target: str, *, day: dt.date, rates: RateTable | None) -> Decimal | None:
    """The amount in another currency, None where nobody knows it."""
    if source == target or rates is None:
        return amount if source == target else None
    try:
        return convert(amount, source=source, target=target, day=day, rates=rates)
    except MissingRate:
        return None


def of_amount(row: Booked) -> Decimal:
    return row.amount


def around(day: dt.date, days: int) -> Iterator[dt.date]:
    """So many days before and after, as far as the calendar goes."""
    place = day.toordinal()
    first, last = max(place - days, dt.date.min.toordinal()), min(place + days, dt.date.max.toordinal())
    return map(dt.date.fromordinal, range(first, last + 1))
