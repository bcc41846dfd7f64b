"""Aging: open amounts by how long they are overdue."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import Decimal

from ledger.money.calc.money import MONEY_CONTEXT

ZERO = Decimal(0)


@dataclass(slots=True)
class AgedAmounts:
    """Open amounts that are not due yet, and overdue ones by age; signed.

    `buckets` has one more entry than the interval: of [30, 60] those of 1–30, 31–60 and more than 60 days.
    """

    current: Decimal
    buckets: list[Decimal] = field(default_factory=list)

    @classmethod
    def empty(cls, interval: Sequence[int]) -> "AgedAmounts":
        return cls(ZERO, [ZERO] * (len(interval) + 1))

    @property
    def total(self) -> Decimal:
        return sum(self.buckets, start=self.current)

    def add(self, bucket: int, amount: Decimal) -> None:
        """Add an amount to a bucket; -1 is not due yet."""
        if bucket < 0:
            self.current = MONEY_CONTEXT.add(self.current, amount)
        else:
            self.buckets[bucket] = MONEY_CONTEXT.add(self.buckets[bucket], amount)


def find_aging_bucket(days_overdue: int, interval: Sequence[int]) -> int:
    """Return the bucket of an age; -1 where it is not overdue.

    >>> [find_aging_bucket(days, [30, 60, 90]) for days in (0, 1, 30, 31, 90, 91)]
    [-1, 0, 0, 1, 2, 3]
    """
    if days_overdue <= 0:
        return -1
    return next((place for place, last in enumerate(interval) if days_overdue <= last), len(interval))
