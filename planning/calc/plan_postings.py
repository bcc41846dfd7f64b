"""In which months a plan item posts, and how much."""

from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Literal

from ledger.calc.months import add_months, count_months_between, get_first_day_of_month
from ledger.money.calc.money import MONEY_CONTEXT

AmountType = Literal["fixed", "changeByAmount", "relative"]
AMOUNT_TYPES = ("fixed", "changeByAmount", "relative")

# An amount that grows by a percentage has no limit of its own: postings are limited to the largest storable amount.
MAX_AMOUNT = Decimal("999999999999999.9999")


@dataclass(frozen=True, slots=True)
class PlanAmount:
    """The amount of each posting of a plan item, in its currency.

    `fixed`: `amount` each time. `changeByAmount`: `amount`, then twice, three times it, and so on. `relative`:
    `amount`, and each next posting is the one before times (1 + `relative_change`); 0.1 is 10 % more.

    Raises:
        ValueError: the type is unknown.
    """

    type: AmountType
    amount: Decimal
    relative_change: Decimal = Decimal(0)

    def __post_init__(self) -> None:
        """Check the type."""
        if self.type not in AMOUNT_TYPES:
            raise ValueError(f"{self.type!r} is not fixed, changeByAmount or relative.")

    def compute_posting_amount(self, index: int) -> Decimal:
        """Compute the amount of the posting with an index, counted from 0.

        Not rounded, 50 digits, at most MAX_AMOUNT.

        >>> PlanAmount("changeByAmount", Decimal(100)).compute_posting_amount(2)
        Decimal('300')
        >>> PlanAmount("relative", Decimal(100), Decimal("0.1")).compute_posting_amount(2)
        Decimal('121.00')
        """
        if index == 0 or self.type == "fixed":
            return self.amount
        if self.type == "changeByAmount":
            return limit_amount(MONEY_CONTEXT.multiply(self.amount, Decimal(index + 1)))
        return limit_amount(MONEY_CONTEXT.multiply(self.amount, MONEY_CONTEXT.power(1 + self.relative_change, index)))


def limit_amount(amount: Decimal) -> Decimal:
    """Limit an amount to MAX_AMOUNT, keeping its sign.

    >>> limit_amount(Decimal("-1E+30"))
    Decimal('-999999999999999.9999')
    """
    return max(min(amount, MAX_AMOUNT), -MAX_AMOUNT)


@dataclass(frozen=True, slots=True)
class PlanItemSchedule:
    """When and how much a plan item posts.

    From `month` on, every `frequency` months (0: once), for `duration` months; None has no end. Any day of
    `month` stands for the month.

    Raises:
        ValueError: the frequency is negative or the duration is below 1.
    """

    month: date
    amount: PlanAmount
    frequency: int = 1
    duration: int | None = None

    def __post_init__(self) -> None:
        """Check frequency and duration."""
        if self.frequency < 0 or (self.duration is not None and self.duration < 1):
            raise ValueError("A plan item steps forward or not at all, and lives for a month or more.")


def compute_plan_postings(schedule: PlanItemSchedule, *, window_start: date, window_end: date) -> dict[date, Decimal]:
    """Compute the amounts by first day of month for [window_start, window_end], in order; not rounded.

    The cost does not grow with the age of the item.

    >>> item = PlanItemSchedule(date(2024, 1, 1), PlanAmount("changeByAmount", Decimal(100)), frequency=3, duration=9)
    >>> found = compute_plan_postings(item, window_start=date(2024, 2, 1), window_end=date(2024, 12, 1))
    >>> {month.isoformat(): str(amount) for month, amount in found.items()}
    {'2024-04-01': '200', '2024-07-01': '300'}
    """
    start = get_first_day_of_month(schedule.month)
    # Offsets in months from the item's start; the last one is limited by its duration.
    first, last = count_months_between(start, window_start), count_months_between(start, window_end)
    if schedule.duration is not None:
        last = min(last, schedule.duration - 1)
    if schedule.frequency == 0:
        return {start: schedule.amount.amount} if first <= 0 <= last else {}
    first_index = max(-(-first // schedule.frequency), 0)
    return {
        add_months(start, index * schedule.frequency): schedule.amount.compute_posting_amount(index)
        for index in range(first_index, last // schedule.frequency + 1)
    }
