"""Which movements belong together as the legs of a transfer, each in one pair at most."""

from bisect import bisect_left
from collections.abc import Callable, Container, Iterable
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from itertools import product
from typing import NamedTuple
from uuid import UUID

from ledger.rules.calc.parties import Identity, Signs, is_same_party, read_signs

MAX_DAYS_APART = 5
# Between currencies the target may be so far off what the source is worth: fees and the bank's own rate.
MAX_SHARE_OFF, MAX_SHARE_OFF_OWN = Decimal("0.03"), Decimal("0.05")  # the second where both legs have a sign


class Leg(NamedTuple):
    id: UUID
    account_id: UUID
    day: date
    amount: Decimal
    currency: str
    from_to: str = ""
    description: str = ""


class Pair(NamedTuple):
    source: Leg  # money out
    target: Leg
    days: int
    difference: Decimal  # of the target from what the source is worth, in the target's currency


Worth = Callable[[Decimal, str, str, date], Decimal | None]  # (amount, from, to, day), None without a rate


def is_pair(source: Signs, target: Signs, *, same_currency: bool, share_off: Decimal) -> bool:
    """Whether two legs of opposite amounts may be one transfer, by what their texts say.

    Two different third parties never are. In one currency equal amounts suffice. Across currencies a sign that the
    other side is the company's own is needed: on both legs up to 5 % off the day's rate; on one leg up to 3 %, unless
    the other leg names a third party.

    Args:
        share_off: how far the target is off what the source is worth, as a share of it.
    """
    third_parties = source.third_party, target.third_party
    if all(third_parties) and not is_same_party(*third_parties):
        return False
    if same_currency:
        return not share_off
    if source.own and target.own:
        return share_off <= MAX_SHARE_OFF_OWN
    one_sided = (source.own and not target.third_party) or (target.own and not source.third_party)
    return one_sided and share_off <= MAX_SHARE_OFF


@dataclass(frozen=True, slots=True)
class Wanted:
    """What the other leg of a source has to be."""

    source: Leg
    day: date
    currency: str
    expected: Decimal  # what the source is worth in the currency
    signed: bool  # whether both legs need a sign


class WaitingLegs:
    """The incoming legs that have no partner yet, by day and currency, in the order of their amounts."""

    def __init__(self, legs: Iterable[Leg], *, identity: Identity, refused: Container[tuple[UUID, UUID]]):
        self.identity = identity
        self.refused = refused
        self.signs: dict[UUID, Signs] = {}  # read when somebody first asks
        self.legs: dict[tuple[date, str], list[Leg]] = {}
        for leg in sorted(legs, key=lambda leg: (leg.amount, leg.id)):
            self.legs.setdefault((leg.day, leg.currency), []).append(leg)
        self.currencies = sorted({currency for _, currency in self.legs})

    def signs_of(self, leg: Leg) -> Signs:
        if leg.id not in self.signs:
            self.signs[leg.id] = read_signs(leg.from_to, leg.description, leg.account_id, self.identity)
        return self.signs[leg.id]

    def take(self, wanted: Wanted) -> Leg | None:
        """Take out the leg of the day that fits and is nearest to the amount, on another account."""
        legs = self.legs.get((wanted.day, wanted.currency), [])
        slack = Decimal(0) if wanted.currency == wanted.source.currency else MAX_SHARE_OFF_OWN * wanted.expected
        first = bisect_left(legs, wanted.expected - slack, key=lambda leg: leg.amount)
        best = None
        for place in range(first, len(legs)):
            leg = legs[place]
            off = abs(leg.amount - wanted.expected)
            if leg.amount > wanted.expected + slack or (best is not None and leg.amount - wanted.expected > best[0]):
                break
            if (best is None or off < best[0]) and self.fits(wanted, leg):
                best = off, place
                if not off:
                    break
        return legs.pop(best[1]) if best else None

    def fits(self, wanted: Wanted, leg: Leg) -> bool:
        source = wanted.source
        if leg.account_id == source.account_id or (source.id, leg.id) in self.refused:
            return False
        signs = self.signs_of(source), self.signs_of(leg)
        if wanted.signed and not all(each.own for each in signs):
            return False
        share_off = abs(leg.amount - wanted.expected) / wanted.expected if wanted.expected else Decimal(0)
        return is_pair(*signs, same_currency=source.currency == leg.currency, share_off=share_off)


def pairs(
    legs: Iterable[Leg], *, worth: Worth, identity: Identity, refused: Container[tuple[UUID, UUID]] = ()
) -> list[Pair]:
    """Return outgoing and incoming legs of two accounts that may be one transfer, at most five days apart.

    ``is_pair`` says which fit; ``refused`` names pairs that a person refused, by the ids of source and target. Each leg
    is in one pair at most. Pairs with a sign on both legs are chosen first, lest a stranger's payment of the same
    amount takes a leg; then those with the fewest days between, equal amounts before others. Of sources as near the
    earlier one chooses. The answer has the fewest days first.
    """
    rows = list(legs)
    waiting = WaitingLegs((leg for leg in rows if leg.amount > 0), identity=identity, refused=refused)
    sources = sorted((leg for leg in rows if leg.amount < 0), key=lambda leg: (leg.day, leg.id))
    found: list[Pair] = []
    for signed, days, same_currency in product((True, False), range(MAX_DAYS_APART + 1), (True, False)):
        left = []
        for source in sources:
            pair = find_partner(source, waiting, days, worth, same_currency=same_currency, signed=signed)
            if pair:
                found.append(pair)
            else:
                left.append(source)
        sources = left
    return sorted(found, key=lambda pair: pair.days)


def days_away(day: date, days: int) -> list[date]:
    """The days so many after and before, as far as the calendar goes.

    >>> days_away(date(1, 1, 1), 2)
    [datetime.date(1, 1, 3)]
    """
    places = sorted({day.toordinal() + days, day.toordinal() - days}, reverse=True)
    return [date.fromordinal(each) for each in places if date.min.toordinal() <= each <= date.max.toordinal()]


def find_partner(
    source: Leg, waiting: WaitingLegs, days: int, worth: Worth, *, same_currency: bool, signed: bool
) -> Pair | None:
    """Return the pair with the nearest leg so many days before or after; None where none fits."""
    signs = waiting.signs_of(source)
    if not signs.own and (signed or (signs.third_party and not same_currency)):
        return None  # no leg could fit
    others = [currency for currency in waiting.currencies if currency != source.currency]
    for currency in [source.currency] if same_currency else others:
        expected = -source.amount if same_currency else worth(-source.amount, source.currency, currency, source.day)
        if expected is None:
            continue
        for day in days_away(source.day, days):
            target = waiting.take(Wanted(source, day, currency, expected, signed))
            if target:
                return Pair(source, target, days, target.amount - expected)
    return None
