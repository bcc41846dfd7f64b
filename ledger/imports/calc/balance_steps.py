"""By how much a balance changes at each row: read from the oldest row or the newest, after bookings or before them."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from datetime import date
from decimal import Decimal
from itertools import groupby, pairwise

AGREED = 0.9  # the share of steps that must be as large as their amounts
Amounts = list[Decimal | None]
FORWARD, BACKWARD, ROW = "forward", "backward", "row"


@dataclass(frozen=True, slots=True)
class StepReading:
    """The steps of a balance as one of its readings has them."""

    steps: Amounts
    is_before: bool = False  # whether each balance is the one before its row
    is_backward: bool = False  # whether the newest row comes first
    is_open: bool = False  # whether another reading has as many steps, with other signs


@dataclass(frozen=True, slots=True)
class BalanceSteps:
    """The steps between a row and its neighbours.

    ``forward`` are those from the row above, ``backward`` those from the row below, as if each balance were the one
    after its row. ``row`` are those between two balances of one row, where a table has both.
    """

    by_order: dict[str, Amounts]
    time_order: str  # forward, backward, or empty where the days do not tell
    is_before: bool = False  # whether a heading says that balances are those before their rows

    def match(self, order: str, amounts: Amounts) -> tuple[int, float]:
        """(how many steps are as large as their amounts, which share of all that is)."""
        pairs = [
            (abs(step), abs(amount))
            for step, amount in zip(self.by_order[order], amounts, strict=True)
            if step is not None and amount is not None
        ]
        pairs = [pair for pair in pairs if pair != (0, 0)]
        matched = sum(a == b for a, b in pairs)
        return matched, matched / len(pairs) if pairs else 0.0

    def compute_matching_share(self, order: str, amounts: Amounts) -> float:
        """The share of steps that are as large as the amounts."""
        return self.match(order, amounts)[1]

    def find_best_share(self, amounts: Amounts) -> float:
        return max(self.compute_matching_share(order, amounts) for order in self.by_order)

    def find_best_match(self, amounts: Amounts) -> tuple[int, float]:
        """What ``match`` says of the order in which it says most."""
        return max((self.match(order, amounts) for order in self.by_order), key=lambda each: (each[1], each[0]))

    def read(self, amounts: Amounts) -> StepReading:
        """The reading under which most steps are as large as the amounts.

        Rows in the order of time with balances of the other order are read as balances before their rows: nothing is
        read against its dates.
        """
        shares = {order: self.compute_matching_share(order, amounts) for order in self.by_order}
        best = max(shares.values())
        orders = [order for order, share in shares.items() if share == best]
        if ROW in self.by_order:
            return StepReading(self.by_order[ROW])
        readings = [self._read_order(order) for order in orders]
        if self.time_order:
            return next((each for each in readings if each.is_before == self.is_before), readings[0])
        readings.sort(key=lambda each: count_matching_signs(each.steps, amounts)[1])
        first, *others = readings
        is_open = any(a and b and a == -b for other in others for a, b in zip(first.steps, other.steps, strict=True))
        return replace(first, is_open=is_open)

    def _read_order(self, order: str) -> StepReading:
        is_before = order != self.time_order if self.time_order else self.is_before
        steps = self.by_order[order]
        if is_before:
            steps = [None if step is None else -step for step in steps]
        return StepReading(steps, is_before, is_backward=(order == BACKWARD) != is_before)


def find_time_order(days: Sequence[date | None]) -> str:
    """Whether the rows begin with the oldest (``forward``) or the newest (``backward``); empty where days do not tell.

    >>> find_time_order([date(2026, 1, 30), date(2026, 1, 30), date(2026, 1, 31)]), find_time_order([date(2026, 1, 31)])
    ('forward', '')
    """
    known_days = [day for day in days if day is not None]
    ups = any(before < day for before, day in pairwise(known_days))
    downs = any(before > day for before, day in pairwise(known_days))
    return "" if ups == downs else FORWARD if ups else BACKWARD


def build_steps(
    balances: Amounts,
    days: Sequence[date | None],
    keys: Sequence[Hashable],
    *,
    before: Amounts | None = None,
    is_before: bool = False,
) -> BalanceSteps:
    """The steps of a balance column, within the rows of one account and currency: ``keys`` tells which they are.

    ``before``: the balances before each row, where the table has them beside those after it.
    """
    if before is not None:
        steps = [
            after - start if after is not None and start is not None else None
            for after, start in zip(balances, before, strict=True)
        ]
        return BalanceSteps({ROW: steps}, find_time_order(days))
    count = len(balances)
    forward: Amounts = [None] * count
    backward: Amounts = [None] * count
    order = {key: position for position, key in enumerate(dict.fromkeys(keys))}
    rows = sorted((row for row in range(count) if balances[row] is not None), key=lambda row: order[keys[row]])
    for _, account_rows in groupby(rows, key=lambda row: keys[row]):
        for above, row in pairwise(account_rows):
            step = balances[row] - balances[above]  # type: ignore[operator]
            forward[row], backward[above] = step, -step
    return BalanceSteps({FORWARD: forward, BACKWARD: backward}, find_time_order(days), is_before)


def count_matching_signs(steps: Amounts, amounts: Amounts) -> tuple[int, int]:
    """How many amounts are their steps, and how many are the steps with the other sign."""
    pairs = [(step, amount) for step, amount in zip(steps, amounts, strict=True) if step and amount]
    return sum(step == amount for step, amount in pairs), sum(step == -amount for step, amount in pairs)
