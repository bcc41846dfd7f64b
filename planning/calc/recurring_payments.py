"""Recurring payments in a company's history: the same party, a similar amount and a steady interval."""

import datetime as dt
from collections import defaultdict
from collections.abc import Iterable, Sequence
from decimal import Decimal
from itertools import pairwise
from typing import NamedTuple
from uuid import UUID

from ledger.calc.months import MONTHS_PER_YEAR, add_months

AMOUNT_TOLERANCE = Decimal("0.10")  # between the latest amount and an earlier one
STEADY_SHARE = Decimal("0.8")  # of all gaps between similar payments of a party
FEWEST_PAYMENTS = 2  # a year apart; beside other payments of the party they are chance
MISSED_PAYMENTS = 1  # after which a payment counts as ended


class Interval(NamedTuple):
    """How often something is paid, and how far its days may be from the schedule."""

    unit: str  # week, month, year
    unit_count: int
    tolerance_days: int
    min_payments: int

    def add_to(self, day: dt.date, times: int = 1) -> dt.date:
        """Return the day so many intervals later. Raises ValueError, OverflowError outside the years 1 to 9999."""
        if self.unit == "week":
            return day + dt.timedelta(weeks=self.unit_count * times)
        months = self.unit_count * (MONTHS_PER_YEAR if self.unit == "year" else 1)
        return add_months(day, months * times)

    def fits(self, earlier: dt.date, later: dt.date) -> bool:
        """Whether one interval lies between two payments."""
        return abs((later - self.add_to(earlier)).days) <= self.tolerance_days


INTERVALS = (
    Interval("week", 1, tolerance_days=2, min_payments=3),
    Interval("month", 1, tolerance_days=5, min_payments=3),
    Interval("month", 3, tolerance_days=8, min_payments=3),
    Interval("year", 1, tolerance_days=12, min_payments=2),
)


class PastPayment(NamedTuple):
    """A payment: negative is money out. `party` compares equal for payments of one party."""

    id: UUID
    date: dt.date
    amount: Decimal
    currency: str
    account_id: UUID
    party: object


class RecurringPayment(NamedTuple):
    """Payments that recur: those of the latest steady run in order, the interval, and the next day from today on."""

    payments: tuple[PastPayment, ...]
    interval: Interval
    next_date: dt.date

    @property
    def latest(self) -> PastPayment:
        return self.payments[-1]


def find_recurring_payments(payments: Iterable[PastPayment], *, today: dt.date) -> list[RecurringPayment]:
    """Return what recurs and is still paid, the next one first.

    Payments are compared by party, account, currency and direction. Amounts are within 10 % of the latest one. At least
    four of five gaps between them are one interval, and the latest three payments are without a gap, two if yearly and
    without other payments of the party.

    Args:
        today: what should have been paid more than an interval ago has ended.

    >>> rent = [
    ...     PastPayment(UUID(int=n), dt.date(2026, n, 3), Decimal(-900), "EUR", UUID(int=0), "landlord")
    ...     for n in (1, 2, 3)
    ... ]
    >>> found = find_recurring_payments(rent, today=dt.date(2026, 3, 9))
    >>> [(payment.interval.unit, str(payment.next_date)) for payment in found]
    [('month', '2026-04-03')]
    """
    groups: defaultdict[tuple[object, ...], list[PastPayment]] = defaultdict(list)
    for payment in payments:
        if payment.amount and payment.date <= today:
            groups[payment.party, payment.account_id, payment.currency, payment.amount > 0].append(payment)
    results = [
        recurring
        for group in groups.values()
        for similar in group_similar_amounts(sorted(group))
        if (recurring := find_recurring_payment(similar, today=today))
        and (len(recurring.payments) > FEWEST_PAYMENTS or len(similar) == len(group))
    ]
    return sorted(results, key=lambda each: (each.next_date, each.latest.amount, each.latest.id))


def group_similar_amounts(payments: Sequence[PastPayment]) -> list[list[PastPayment]]:
    """Return groups of payments in order of dates, each with amounts within 10 % of its latest one."""
    remaining = sorted(payments, key=lambda payment: (payment.date, payment.id))
    groups = []
    while remaining:
        latest = remaining[-1].amount
        limit = abs(latest) * AMOUNT_TOLERANCE
        groups.append([payment for payment in remaining if abs(payment.amount - latest) <= limit])
        remaining = [payment for payment in remaining if abs(payment.amount - latest) > limit]
    return groups


def find_recurring_payment(payments: Sequence[PastPayment], *, today: dt.date) -> RecurringPayment | None:
    """Return the interval at which similar payments recur; None if they do not, or not any more."""
    for interval in INTERVALS:
        gaps = list(pairwise(payments))
        fitting = [interval.fits(earlier.date, later.date) for earlier, later in gaps]
        run_length = count_trailing_flags(fitting) + 1
        if run_length < interval.min_payments or sum(fitting) < STEADY_SHARE * len(gaps):
            continue
        run = tuple(payments[-run_length:])
        next_date = compute_next_date([payment.date for payment in run], interval)
        ends = interval.add_to(next_date, MISSED_PAYMENTS) + dt.timedelta(days=interval.tolerance_days)
        if today > ends:
            return None
        while next_date < today:
            next_date = interval.add_to(next_date)
        return RecurringPayment(run, interval, next_date)
    return None


def count_trailing_flags(flags: Sequence[bool]) -> int:
    """Return how many flags at the end are set.

    >>> count_trailing_flags([True, False, True, True])
    2
    """
    return next((count for count, flag in enumerate(reversed(flags)) if not flag), len(flags))


def compute_next_date(days: Sequence[dt.date], interval: Interval) -> dt.date:
    """Return the day after the last one at which the next payment falls, on the usual day of its interval.

    Weekends move single payments by days. Each day is counted on to the latest interval; their median is the usual one.

    >>> days = [dt.date(2026, 6, 1), dt.date(2026, 7, 1), dt.date(2026, 8, 3)]
    >>> compute_next_date(days, INTERVALS[1]).isoformat()
    '2026-09-01'
    """
    moved = sorted(interval.add_to(day, len(days) - 1 - position) for position, day in enumerate(days))
    return interval.add_to(moved[len(moved) // 2])
