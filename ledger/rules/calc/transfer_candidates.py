"""Which legs may be in a pair by account, day and amount alone, so that texts are read only where there may be one."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from datetime import date
from decimal import Decimal
from itertools import accumulate, groupby
from uuid import UUID

from ledger.rules.calc.transfer_pairs import (
    MAX_DAYS_APART,
    AmountConverter,
    CandidateLeg,
    compute_expected_amount,
    compute_tolerance,
    list_days_apart,
)


class IncomingLegs:
    """The incoming legs of an account, a currency and a day, ordered by amount; marks those that a source matches."""

    def __init__(self, legs: Iterable[CandidateLeg]):
        self.legs = sorted(legs, key=lambda leg: leg.amount)
        self.range_changes = [0] * (len(self.legs) + 1)  # +1 where a marked range starts, -1 behind its end

    def mark_amounts(self, lowest: Decimal, highest: Decimal) -> bool:
        """Mark the legs with amounts in the range; return whether there are any."""
        first = bisect_left(self.legs, lowest, key=lambda leg: leg.amount)
        end = bisect_right(self.legs, highest, lo=first, key=lambda leg: leg.amount)
        self.range_changes[first] += 1
        self.range_changes[end] -= 1
        return first < end

    def list_marked(self) -> list[CandidateLeg]:
        return [leg for leg, depth in zip(self.legs, accumulate(self.range_changes), strict=False) if depth]


IncomingByDay = dict[date, IncomingLegs]


def filter_matching_amounts(legs: Iterable[CandidateLeg], *, convert_amount: AmountConverter) -> list[CandidateLeg]:
    """Return the legs that another one matches by account, day and amount, whatever their texts say."""
    rows = list(legs)
    groups = group_incoming_legs(rows)
    sources = [leg for leg in rows if leg.amount < 0 and mark_targets(leg, groups, convert_amount)]
    targets = [leg for by_day in groups.values() for day_legs in by_day.values() for leg in day_legs.list_marked()]
    return sources + targets


def group_incoming_legs(legs: Iterable[CandidateLeg]) -> dict[tuple[UUID, str], IncomingByDay]:
    """Return the incoming legs by account and currency, then by day."""
    incoming = sorted((leg for leg in legs if leg.amount > 0), key=get_group_key)
    groups: dict[tuple[UUID, str], IncomingByDay] = {}
    for (account_id, currency, day), day_legs in groupby(incoming, key=get_group_key):
        groups.setdefault((account_id, currency), {})[day] = IncomingLegs(day_legs)
    return groups


def get_group_key(leg: CandidateLeg) -> tuple[UUID, str, date]:
    return leg.account_id, leg.currency, leg.day


def mark_targets(
    source: CandidateLeg, groups: dict[tuple[UUID, str], IncomingByDay], convert_amount: AmountConverter
) -> bool:
    """Mark the legs that a source matches; return whether there are any."""
    near_days = [day for days in range(MAX_DAYS_APART + 1) for day in list_days_apart(source.day, days)]
    is_matched = False
    for (account_id, currency), by_day in groups.items():
        near_legs = [by_day[day] for day in near_days if day in by_day] if account_id != source.account_id else []
        expected_amount = compute_expected_amount(source, currency, convert_amount) if near_legs else None
        if expected_amount is not None:
            tolerance = compute_tolerance(source, currency, expected_amount)
            for day_legs in near_legs:
                is_matched |= day_legs.mark_amounts(expected_amount - tolerance, expected_amount + tolerance)
    return is_matched
