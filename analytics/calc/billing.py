"""What the prices of a subscription bill, day by day."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal

from ledger.subscriptions.calc.monthly_value import BillingInterval
from planning.calc.recurrence import RecurrenceRule, list_occurrence_days

ONE_DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class PriceEvent:
    """From `day` on, a subscription costs `amount` every `count` intervals; 0 ends it."""

    day: date
    amount: Decimal
    currency: str
    interval: BillingInterval = "month"
    count: int = 1


@dataclass(frozen=True, slots=True)
class Billing:
    """An amount that a subscription bills on a day."""

    day: date
    amount: Decimal
    currency: str


def list_billings(events: Iterable[PriceEvent], *, start: date, end: date) -> list[Billing]:
    """Return what one subscription bills in [start, end], by day.

    It bills in advance, on the first day of each interval. Intervals are counted from the day on which the
    subscription started, resumed or changed its interval; a new price of the same interval counts from the next one.

    Args:
        events: by day; of two on one day the later counts.

    >>> yearly = PriceEvent(date(2024, 3, 15), Decimal(1200), "EUR", "year")
    >>> raised = PriceEvent(date(2024, 6, 1), Decimal(1500), "EUR", "year")
    >>> billings = list_billings([yearly, raised], start=date(2024, 1, 1), end=date(2025, 12, 31))
    >>> [(str(billing.day), str(billing.amount)) for billing in billings]
    [('2024-03-15', '1200'), ('2025-03-15', '1500')]
    """
    effective = list({event.day: event for event in events}.values())
    billings: list[Billing] = []
    previous, anchor = None, date.min
    for position, event in enumerate(effective):
        if (
            previous is None
            or not previous.amount
            or (previous.interval, previous.count) != (event.interval, event.count)
        ):
            anchor = event.day
        previous = event
        is_last = position == len(effective) - 1
        until = end if is_last else min(end, effective[position + 1].day - ONE_DAY)
        if event.amount:
            rule = RecurrenceRule(start=anchor, frequency=event.interval, interval=event.count)
            days = list_occurrence_days(rule, window_start=max(event.day, start), window_end=until)
            billings += [Billing(day, event.amount, event.currency) for day in days]
    return billings
