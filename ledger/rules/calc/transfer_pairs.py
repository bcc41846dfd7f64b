"""Which transactions are the two legs of a transfer; each is in one pair at most."""

from bisect import bisect_left
from collections.abc import Callable, Container, Iterable
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from itertools import product
from typing import NamedTuple
from uuid import UUID

from ledger.rules.calc.parties import CompanyIdentity, PartySigns, is_same_party, read_party_signs

MAX_DAYS_APART = 5
# Between currencies the target may deviate from the value of the source: fees and the bank's own rate.
MAX_DEVIATION, MAX_DEVIATION_OWN = Decimal("0.03"), Decimal("0.05")  # the second where both legs have a sign


class CandidateLeg(NamedTuple):
    id: UUID
    account_id: UUID
    day: date
    amount: Decimal
    currency: str
    from_to: str = ""
    description: str = ""
    is_open: bool = True  # False: categorized as Transfers, but not linked


class LegPair(NamedTuple):
    source: CandidateLeg  # money out
    target: CandidateLeg
    days: int
    difference: Decimal  # of the target from what the source is worth, in the target's currency
    is_own: bool  # one leg has a sign that both are the company's own, and neither names a third party


AmountConverter = Callable[[Decimal, str, str, date], Decimal | None]  # (amount, from, to, day), None without a rate


def is_transfer_pair(source: PartySigns, target: PartySigns, *, same_currency: bool, deviation: Decimal) -> bool:
    """Whether two legs of opposite amounts may be one transfer, by what their texts say.

    Two different third parties never are. In one currency equal amounts suffice. Across currencies a sign that
    the other side is the company's own is needed: on both legs up to 5 % off the day's rate; on one leg up to 3
    %, unless the other leg names a third party.

    Args:
        deviation: difference of the target from the value of the source, as a share of it.
    """
    third_parties = source.third_party, target.third_party
    if all(third_parties) and not is_same_party(*third_parties):
        return False
    if same_currency:
        return not deviation
    if source.is_between_own_accounts and target.is_between_own_accounts:
        return deviation <= MAX_DEVIATION_OWN
    one_sided = (source.is_between_own_accounts and not target.third_party) or (
        target.is_between_own_accounts and not source.third_party
    )
    return one_sided and deviation <= MAX_DEVIATION


@dataclass(frozen=True, slots=True)
class PartnerCriteria:
    """What the other leg of a source must be."""

    source: CandidateLeg
    day: date
    currency: str
    expected_amount: Decimal  # what the source is worth in the currency
    needs_signs: bool  # whether both legs need a sign


class UnpairedLegs:
    """Incoming legs without a partner, by day and currency, ordered by amount."""

    def __init__(
        self, legs: Iterable[CandidateLeg], *, identity: CompanyIdentity, dismissed: Container[tuple[UUID, UUID]]
    ):
        self.identity = identity
        self.dismissed = dismissed
        self.signs: dict[UUID, PartySigns] = {}  # read when somebody first asks
        self.legs: dict[tuple[date, str], list[CandidateLeg]] = {}
        for leg in sorted(legs, key=lambda leg: (leg.amount, leg.id)):
            self.legs.setdefault((leg.day, leg.currency), []).append(leg)
        self.currencies = sorted({currency for _, currency in self.legs})

    def get_party_signs(self, leg: CandidateLeg) -> PartySigns:
        if leg.id not in self.signs:
            self.signs[leg.id] = read_party_signs(leg.from_to, leg.description, leg.account_id, self.identity)
        return self.signs[leg.id]

    def take_nearest(self, criteria: PartnerCriteria) -> CandidateLeg | None:
        """Remove and return the matching leg of the day that is nearest to the amount, on another account."""
        legs = self.legs.get((criteria.day, criteria.currency), [])
        tolerance = compute_tolerance(criteria.source, criteria.currency, criteria.expected_amount)
        first = bisect_left(legs, criteria.expected_amount - tolerance, key=lambda leg: leg.amount)
        best = None
        for position in range(first, len(legs)):
            leg = legs[position]
            distance = abs(leg.amount - criteria.expected_amount)
            if leg.amount > criteria.expected_amount + tolerance or (
                best is not None and leg.amount - criteria.expected_amount > best[0]
            ):
                break
            if (best is None or distance < best[0]) and self.is_match(criteria, leg):
                best = distance, position
                if not distance:
                    break
        return legs.pop(best[1]) if best else None

    def is_match(self, criteria: PartnerCriteria, leg: CandidateLeg) -> bool:
        source = criteria.source
        if leg.account_id == source.account_id or (source.id, leg.id) in self.dismissed:
            return False
        if not (source.is_open or leg.is_open):
            return False
        signs = self.get_party_signs(source), self.get_party_signs(leg)
        if criteria.needs_signs and not all(leg_signs.is_between_own_accounts for leg_signs in signs):
            return False
        deviation = (
            abs(leg.amount - criteria.expected_amount) / criteria.expected_amount
            if criteria.expected_amount
            else Decimal(0)
        )
        return is_transfer_pair(*signs, same_currency=source.currency == leg.currency, deviation=deviation)


def find_transfer_pairs(
    legs: Iterable[CandidateLeg],
    *,
    convert_amount: AmountConverter,
    identity: CompanyIdentity,
    dismissed: Container[tuple[UUID, UUID]] = (),
) -> list[LegPair]:
    """Return outgoing and incoming legs of two accounts that may be one transfer, at most five days apart.

    ``is_transfer_pair`` says which match; ``dismissed`` has pairs that a person dismissed, by the ids of source
    and target. Each leg is in one pair at most. Pairs with a sign on both legs are chosen first, so that a
    payment of a stranger with the same amount takes no leg; then those with the fewest days between, equal
    amounts before others. Of sources at the same distance the earlier one chooses. Ordered by days between,
    fewest first. At least one leg of a pair is open.
    """
    rows = list(legs)
    unpaired_legs = UnpairedLegs((leg for leg in rows if leg.amount > 0), identity=identity, dismissed=dismissed)
    sources = sorted((leg for leg in rows if leg.amount < 0), key=lambda leg: (leg.day, leg.id))
    pairs_found: list[LegPair] = []
    for needs_signs, days, same_currency in product((True, False), range(MAX_DAYS_APART + 1), (True, False)):
        unmatched_sources = []
        for source in sources:
            pair = find_leg_partner(
                source, unpaired_legs, days, convert_amount, same_currency=same_currency, needs_signs=needs_signs
            )
            if pair:
                pairs_found.append(pair)
            else:
                unmatched_sources.append(source)
        sources = unmatched_sources
    return sorted(pairs_found, key=lambda pair: pair.days)


def compute_expected_amount(source: CandidateLeg, currency: str, convert_amount: AmountConverter) -> Decimal | None:
    """Return what a source is worth in a currency on its day; None without a rate."""
    if currency == source.currency:
        return -source.amount
    return convert_amount(-source.amount, source.currency, currency, source.day)


def compute_tolerance(source: CandidateLeg, currency: str, expected_amount: Decimal) -> Decimal:
    """Return by how much a target in a currency may differ at most; its texts may allow less."""
    return Decimal(0) if currency == source.currency else MAX_DEVIATION_OWN * expected_amount


def list_days_apart(day: date, days: int) -> list[date]:
    """Return the dates so many days after and before, within the calendar.

    >>> list_days_apart(date(1, 1, 1), 2)
    [datetime.date(1, 1, 3)]
    """
    ordinals = sorted({day.toordinal() + days, day.toordinal() - days}, reverse=True)
    return [
        date.fromordinal(ordinal) for ordinal in ordinals if date.min.toordinal() <= ordinal <= date.max.toordinal()
    ]


def find_leg_partner(
    source: CandidateLeg,
    unpaired_legs: UnpairedLegs,
    days: int,
    convert_amount: AmountConverter,
    *,
    same_currency: bool,
    needs_signs: bool,
) -> LegPair | None:
    """Return the pair with the nearest leg so many days before or after; None if none matches."""
    signs = unpaired_legs.get_party_signs(source)
    if not signs.is_between_own_accounts and (needs_signs or (signs.third_party and not same_currency)):
        return None  # no leg could fit
    other_currencies = [currency for currency in unpaired_legs.currencies if currency != source.currency]
    for currency in [source.currency] if same_currency else other_currencies:
        expected_amount = compute_expected_amount(source, currency, convert_amount)
        if expected_amount is None:
            continue
        for day in list_days_apart(source.day, days):
            target = unpaired_legs.take_nearest(PartnerCriteria(source, day, currency, expected_amount, needs_signs))
            if target:
                target_signs = unpaired_legs.get_party_signs(target)
                is_own = (signs.is_between_own_accounts or target_signs.is_between_own_accounts) and not (
                    signs.third_party or target_signs.third_party
                )
                return LegPair(source, target, days, target.amount - expected_amount, is_own)
    return None
