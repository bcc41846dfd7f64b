"""Plan items: in which months a line of the financial plan posts, and how much."""

from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Literal

from ledger.calc.money import WIDE
from ledger.calc.months import add_months, first_of_month, months_between

AmountType = Literal["fixed", "changeByAmount", "relative"]
AMOUNT_TYPES = ("fixed", "changeByAmount", "relative")

# What grows by a share each month has no end; no posting is larger than the largest amount that can be written.
LARGEST = Decimal("999999999999999.9999")


@dataclass(frozen=True, slots=True)
class PlanAmount:
    """How much each posting is, in the item's currency.

    ``fixed``: ``amount`` each time. ``changeByAmount``: ``amount``, then twice, three times it, and so on.
    ``relative``: ``amount``, and each next one times (1 + ``relative_change``); 0.1 is 10 % more.
    Raises ValueError for another type.
    """

    type: AmountType
    amount: Decimal
    relative_change: Decimal = Decimal(0)

    def __post_init__(self) -> None:
        """Refuse an unknown type."""
        if self.type not in AMOUNT_TYPES:
            raise ValueError(f"{self.type!r} is not fixed, changeByAmount or relative.")

    def of_posting(self, index: int) -> Decimal:
        """The amount of the posting with this index, counted from 0; not rounded, to 50 digits, LARGEST at most.

        >>> PlanAmount("changeByAmount", Decimal(100)).of_posting(2)
        Decimal('300')
        >>> PlanAmount("relative", Decimal(100), Decimal("0.1")).of_posting(2)
        Decimal('121.00')
        """
        if index == 0 or self.type == "fixed":
            return self.amount
        if self.type == "changeByAmount":
            return bounded(WIDE.multiply(self.amount, Decimal(index + 1)))
        return bounded(WIDE.multiply(self.amount, WIDE.power(1 + self.relative_change, index)))


def bounded(amount: Decimal) -> Decimal:
    """The amount, or the largest one that can be written, with its sign.

    >>> bounded(Decimal("-1E+30"))
    Decimal('-999999999999999.9999')
    """
    return max(min(amount, LARGEST), -LARGEST)


@dataclass(frozen=True, slots=True)
class PlanItem:
    """A line of the plan: from ``month`` on, every ``frequency`` months (0: once), for ``duration`` months (None: on).

    Any day stands for its month. Raises ValueError for a negative frequency and a duration below 1.
    """

    month: date
    amount: PlanAmount
    frequency: int = 1
    duration: int | None = None

    def __post_init__(self) -> None:
        """Refuse a step backwards and a life of no month."""
        if self.frequency < 0 or (self.duration is not None and self.duration < 1):
            raise ValueError("A plan item steps forward or not at all, and lives for a month or more.")


def postings(item: PlanItem, *, window_start: date, window_end: date) -> dict[date, Decimal]:
    """First day of month -> amount, for the months around ``window_start`` to ``window_end``, in order; not rounded.

    Jumps to the window: the cost does not grow with the age of the item.

    >>> item = PlanItem(date(2024, 1, 1), PlanAmount("changeByAmount", Decimal(100)), frequency=3, duration=9)
    >>> found = postings(item, window_start=date(2024, 2, 1), window_end=date(2024, 12, 1))
    >>> {month.isoformat(): str(amount) for month, amount in found.items()}
    {'2024-04-01': '200', '2024-07-01': '300'}
    """
    start = first_of_month(item.month)
    # Months from the item's start, as offsets; the last one is limited by the item's life.
    first, last = months_between(start, window_start), months_between(start, window_end)
    if item.duration is not None:
        last = min(last, item.duration - 1)
    if item.frequency == 0:
        return {start: item.amount.amount} if first <= 0 <= last else {}
    first_index = max(-(-first // item.frequency), 0)
    return {
        add_months(start, index * item.frequency): item.amount.of_posting(index)
        for index in range(first_index, last // item.frequency + 1)
    }
