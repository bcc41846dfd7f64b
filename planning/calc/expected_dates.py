"""When an open invoice is expected to be paid, and when it is due."""

import datetime as dt
from collections.abc import Sequence
from typing import Literal, NamedTuple

ExpectationBasis = Literal["person", "paymentAttempt", "history", "dueDate", "startDate"]
MIN_HISTORY = 5  # paid invoices of a counterparty from which its own delay counts


class InvoiceDates(NamedTuple):
    """The dates of an invoice; `payment_terms` are days after the invoice date."""

    start_date: dt.date
    invoice_date: dt.date
    payment_terms: int | None = None
    due_date: dt.date | None = None
    next_payment_attempt: dt.date | None = None
    set_date: dt.date | None = None  # by a person


class ExpectedDate(NamedTuple):
    """The day on which an invoice is expected to be paid, and what it follows from."""

    date: dt.date
    basis: ExpectationBasis


def add_days(day: dt.date, days: int) -> dt.date:
    """Return the day so many days later, within the calendar."""
    return dt.date.fromordinal(min(max(day.toordinal() + days, 1), dt.date.max.toordinal()))


def compute_due_date(dates: InvoiceDates) -> dt.date:
    """Return the due date: the one stated, else the invoice date and terms, else the start date.

    >>> compute_due_date(InvoiceDates(dt.date(2024, 3, 1), dt.date(2024, 1, 31), payment_terms=30)).isoformat()
    '2024-03-01'
    """
    if dates.due_date is not None:
        return dates.due_date
    if dates.payment_terms is not None:
        return add_days(dates.invoice_date, dates.payment_terms)
    return dates.start_date


def compute_median_delay(delays: Sequence[int]) -> int | None:
    """Return the median of payment delays in days, half days rounded down; None for fewer than five.

    >>> compute_median_delay([3, 4, 5, 6, 60, 70]), compute_median_delay([3, 4, 5, 6])
    (5, None)
    """
    if len(delays) < MIN_HISTORY:
        return None
    ordered, middle = sorted(delays), len(delays) // 2
    return ordered[middle] if len(ordered) % 2 else (ordered[middle - 1] + ordered[middle]) // 2


def compute_expected_date(dates: InvoiceDates, *, delay: int | None) -> ExpectedDate:
    """Return when an invoice is expected to be paid.

    Args:
        delay: the counterparty's own median delay after the due date; None without a history.

    >>> dates = InvoiceDates(dt.date(2024, 1, 1), dt.date(2024, 1, 1), due_date=dt.date(2024, 1, 31))
    >>> compute_expected_date(dates, delay=9).date.isoformat(), compute_expected_date(dates, delay=None).basis
    ('2024-02-09', 'dueDate')
    """
    if dates.set_date is not None:
        return ExpectedDate(dates.set_date, "person")
    if dates.next_payment_attempt is not None:
        return ExpectedDate(dates.next_payment_attempt, "paymentAttempt")
    due_date = compute_due_date(dates)
    if delay is not None:
        return ExpectedDate(add_days(due_date, delay), "history")
    has_due_date = dates.due_date is not None or dates.payment_terms is not None
    return ExpectedDate(due_date, "dueDate" if has_due_date else "startDate")
