"""Expected dates of invoices: which date counts, and what a history of payments gains."""

import random
from datetime import date, timedelta
from statistics import mean, median

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planning.calc.expected_dates import (
    InvoiceDates,
    add_days,
    compute_due_date,
    compute_expected_date,
    compute_median_delay,
)

START, INVOICED = date(2026, 3, 10), date(2026, 2, 1)
FULL = InvoiceDates(
    START, INVOICED, payment_terms=14, due_date=date(2026, 2, 28), next_payment_attempt=date(2026, 3, 3),
    set_date=date(2026, 3, 5),
)  # fmt: skip
DATES = st.dates(date(2000, 1, 1), date(2100, 1, 1))


@pytest.mark.parametrize(
    ("dates", "delay", "expected"),
    [
        pytest.param(FULL, 3, (date(2026, 3, 5), "person"), id="a person's date first"),
        pytest.param(FULL._replace(set_date=None), 3, (date(2026, 3, 3), "paymentAttempt"), id="next attempt"),
        pytest.param(
            FULL._replace(set_date=None, next_payment_attempt=None), 3, (date(2026, 3, 3), "history"), id="history"
        ),
        pytest.param(
            FULL._replace(set_date=None, next_payment_attempt=None), None, (date(2026, 2, 28), "dueDate"), id="due"
        ),
        pytest.param(InvoiceDates(START, INVOICED, payment_terms=14), None, (date(2026, 2, 15), "dueDate"), id="terms"),
        pytest.param(InvoiceDates(START, INVOICED, payment_terms=0), None, (INVOICED, "dueDate"), id="due at once"),
        pytest.param(InvoiceDates(START, INVOICED), None, (START, "startDate"), id="nothing but a start"),
        pytest.param(InvoiceDates(START, INVOICED), -4, (date(2026, 3, 6), "history"), id="paid early"),
    ],
)
def test_expected_date_follows_the_first_known_date(dates, delay, expected):
    assert compute_expected_date(dates, delay=delay) == expected


@pytest.mark.parametrize(
    ("delays", "expected"),
    [([], None), ([1, 2, 3, 4], None), ([9, 1, 2, 3, 4], 3), ([1, 1, 2, 3, 3, 3], 2), ([-2, -2, -1, 0, 0, 0], -1)],
)
def test_median_delay_needs_five_and_rounds_half_days_down(delays, expected):
    assert compute_median_delay(delays) == expected


@given(st.lists(st.integers(-400, 4000), min_size=5, max_size=40))
def test_median_delay_is_the_median_rounded_down(delays):
    median_delay = compute_median_delay(delays)
    assert median_delay is not None
    assert 0 <= median(delays) - median_delay < 1
    assert median_delay == compute_median_delay(sorted(delays, reverse=True))


@given(DATES, DATES, st.none() | st.integers(0, 999), st.none() | DATES, st.none() | st.integers(-400, 4000))
def test_expected_date_is_due_date_plus_delay(start, invoiced, terms, due, delay):
    dates = InvoiceDates(start, invoiced, payment_terms=terms, due_date=due)
    assert compute_expected_date(dates, delay=delay).date == add_days(compute_due_date(dates), delay or 0)


@given(st.integers(-5_000_000, 5_000_000), st.dates())
def test_days_added_stay_within_the_calendar(days, day):
    assert date.min <= add_days(day, days) <= date.max


def test_history_beats_the_due_date_on_payments_with_known_delays():
    """Customers with a habit each, and noise about it: the error falls to about the noise."""
    source = random.Random(42)
    due_errors, history_errors = [], []
    for habit in (0, 3, 7, 14, 21, 30):
        delays: list[int] = []
        for number in range(40):
            due = date(2026, 1, 1) + timedelta(days=7 * number)
            paid = due + timedelta(days=habit + source.choice([-3, -1, 0, 0, 0, 1, 2, 25]))
            dates = InvoiceDates(due, due - timedelta(days=30), due_date=due)
            due_errors.append(abs((compute_expected_date(dates, delay=None).date - paid).days))
            history_errors.append(
                abs((compute_expected_date(dates, delay=compute_median_delay(delays)).date - paid).days)
            )
            delays.append((paid - due).days)
    assert mean(due_errors) > 13
    assert mean(history_errors) < 7
