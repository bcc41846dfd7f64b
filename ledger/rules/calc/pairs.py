"""Which movements belong together as the legs of a transfer, each in one pair at most."""

from bisect import bisect_left
from collections.abc import Callable, Container, Iterable
from datetime import date
from decimal import Decimal
from typing import NamedTuple
from uuid import UUID

MOST_DAYS = 5
TOLERANCE = Decimal("0.03")  # between currencies, of what the source is worth: fees and the bank's own rate


class Leg(NamedTuple):
    id: UUID
    account_id: UUID
    day: date
    amount: Decimal
    currency: str


class Pair(NamedTuple):
    source: Leg  # money out
    target: Leg
    days: int
    difference: Decimal  # of the target from what the source is worth, in the target's currency


Worth = Callable[[Decimal, str, str, date], Decimal | None]  # (amount, from, to, day), None without a rate


class Waiting:
    """The incoming legs that have no partner yet, by day and currency, in the order of their amounts."""

    def __init__(self, legs: Iterable[Leg], *, refused: Container[tuple[UUID, UUID]]):
        self.refused = refused
        self.legs: dict[tuple[date, str], list[Leg]] = {}
        for leg in sorted(legs, key=lambda leg: (leg.amount, leg.id)):
            self.legs.setdefault((leg.day, leg.currency), []).append(leg)
        self.currencies = sorted({currency for _, currency in self.legs})

    def take(self, source: Leg, day: date, currency: str, expected: Decimal, slack: Decimal) -> Leg | None:
        """The leg of the day that is nearest to the amount, on another account; it waits no longer."""
        legs = self.legs.get((day, currency), [])
        first = bisect_left(legs, expected - slack, key=lambda leg: leg.amount)
        best = None
        for place in range(first, len(legs)):
            leg = legs[place]
            off = abs(leg.amount - expected)
            if leg.amount > expected + slack or (best is not None and leg.amount - expected > best[0]):
                break
            fits = leg.account_id != source.account_id and (source.id, leg.id) not in self.refused
            if fits and (best is None or off < best[0]):
                best = off, place
                if not off:
                    break
        return legs.pop(best[1]) if best else None


def pairs(legs: Iterable[Leg], *, worth: Worth, refused: Container[tuple[UUID, UUID]] = ()) -> list[Pair]:
    """Outgoing and incoming legs of two accounts, at most five days apart: equal amounts, or across currencies those
    within three in a hundred of what the source is worth on its day. Fewest days come first, and then equal amounts;
    of those as near, the earlier source chooses. What is ``refused``, by the ids of source and target, is no pair.
    """
    rows = list(legs)
    waiting = Waiting((leg for leg in rows if leg.amount > 0), refused=refused)
    sources = sorted((leg for leg in rows if leg.amount < 0), key=lambda leg: (leg.day, leg.id))
    found: list[Pair] = []
    for days in range(MOST_DAYS + 1):
        for equal in (True, False):
            left = []
            for source in sources:
                pair = partner(source, waiting, days, worth, equal=equal)
                if pair:
                    found.append(pair)
                else:
                    left.append(source)
            sources = left
    return found


def days_away(day: date, days: int) -> list[date]:
    """The days so many after and before, as far as the calendar goes.

    >>> days_away(date(1, 1, 1), 2)
    [datetime.date(1, 1, 3)]
    """
    places = sorted({day.toordinal() + days, day.toordinal() - days}, reverse=True)
    return [date.fromordinal(each) for each in places if date.min.toordinal() <= each <= date.max.toordinal()]


def partner(source: Leg, waiting: Waiting, days: int, worth: Worth, *, equal: bool) -> Pair | None:
    """The nearest leg so many days before or after."""
    currencies = [source.currency] if equal else [each for each in waiting.currencies if each != source.currency]
    for currency in currencies:
        expected = -source.amount if equal else worth(-source.amount, source.currency, currency, source.day)
        if expected is None:
            continue
        slack = Decimal(0) if equal else TOLERANCE * expected
        for day in days_away(source.day, days):
            target = waiting.take(source, day, currency, expected, slack)
            if target:
                return Pair(source, target, days, target.amount - expected)
    return None
