"""Recurring payments in made-up histories: schedules with jitter are found, and noise is not."""

import random
from datetime import date, timedelta
from decimal import Decimal
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planning.calc.recurring_payments import INTERVALS, PastPayment, find_recurring_payments

ACCOUNT, OTHER_ACCOUNT = UUID(int=1), UUID(int=2)
START = date(2024, 1, 15)
JITTER_DAYS = {("week", 1): 1, ("month", 1): 2, ("month", 3): 4, ("year", 1): 6}


def build_payments(days, amounts="-100.00", *, party="landlord", account=ACCOUNT, currency="EUR", first_id=10):
    amounts = [amounts] * len(days) if isinstance(amounts, str) else amounts
    return [
        PastPayment(UUID(int=first_id + n), day, Decimal(amount), currency, account, party)
        for n, (day, amount) in enumerate(zip(days, amounts, strict=True))
    ]


@st.composite
def draw_history(draw):
    """(interval, payments on its schedule with jitter of days and amounts)"""
    interval = draw(st.sampled_from(INTERVALS))
    count = draw(st.integers(interval.min_payments, interval.min_payments + 9))
    jitter = JITTER_DAYS[interval.unit, interval.unit_count]
    days = [
        interval.add_to(START, number) + timedelta(days=draw(st.integers(-jitter, jitter))) for number in range(count)
    ]
    amount = draw(st.sampled_from([Decimal(-1200), Decimal(45)]))
    amounts = [amount * draw(st.integers(97, 103)) / 100 for _ in range(count)]
    return interval, build_payments(days, amounts)


@given(draw_history(), st.randoms())
def test_schedule_with_jitter_is_found_whole(history, shuffler):
    interval, payments = history
    today = payments[-1].date + timedelta(days=1)
    shuffled = [*payments, *build_noise(shuffler.random() * 1e9)]
    shuffler.shuffle(shuffled)
    (recurring_payment,) = find_recurring_payments(shuffled, today=today)
    assert recurring_payment.payments == tuple(payments)
    assert recurring_payment.interval == interval
    expected = interval.add_to(START, len(payments))
    assert abs((recurring_payment.next_date - expected).days) <= interval.tolerance_days
    assert recurring_payment.next_date >= today


def build_noise(seed):
    """Payments of many parties at gaps that no interval has, or with amounts that are not alike."""
    generator = random.Random(seed)
    days = [START]
    for _ in range(12):
        days.append(days[-1] + timedelta(days=generator.choice([3, 17, 45, 62, 130])))
    wild = [Decimal(-100) * 2**number for number in range(6)]
    generator.shuffle(wild)
    months = [INTERVALS[1].add_to(START, number) for number in range(6)]
    names = [f"party {number}" for number in range(6)]
    return [
        *build_payments(days, party="irregular", first_id=1000),
        *build_payments(months, wild, party="wild", first_id=2000),
        *(payment for n, (day, name) in enumerate(zip(months, names, strict=True))
          for payment in build_payments([day], party=name, first_id=3000 + n)),
    ]  # fmt: skip


@given(st.integers(0, 10**9), st.integers(0, 400))
def test_noise_gives_nothing(seed, days):
    payments = build_noise(seed)
    assert find_recurring_payments(payments, today=START + timedelta(days=days)) == []


def test_parties_accounts_directions_and_currencies_are_apart():
    days = [date(2026, month, 5) for month in (1, 2, 3)]
    kinds = [{"account": OTHER_ACCOUNT}, {"currency": "USD"}, {"party": "other"}, {"amounts": "100.00"}]
    payments = [
        payment
        for day, kind in zip(days, [{}, *kinds[:2]], strict=True)
        for payment in build_payments([day], first_id=100 + day.month, **kind)
    ]
    assert find_recurring_payments(payments, today=date(2026, 3, 6)) == []
    payments = [
        payment
        for number, kind in enumerate([{}, *kinds])
        for payment in build_payments(days, first_id=100 * number, **kind)
    ]
    assert len(find_recurring_payments(payments, today=date(2026, 3, 6))) == 5


def test_two_subscriptions_of_one_party_are_found_by_their_amounts():
    days = [date(2026, month, 5) for month in (1, 2, 3)]
    cheap, dear = build_payments(days, "-9.99"), build_payments(days, "-99.00", first_id=20)
    recurring_payments = find_recurring_payments([*cheap, *dear], today=date(2026, 3, 6))
    assert [each.payments for each in recurring_payments] == [tuple(dear), tuple(cheap)]


@pytest.mark.parametrize(
    ("days", "count"),
    [
        pytest.param(["2026-01-05", "2026-02-05"], 0, id="two months are too few"),
        pytest.param(["2025-03-01", "2026-03-01"], 1, id="two years are enough"),
        pytest.param(["2026-01-05", "2026-02-05", "2026-03-05"], 1, id="three months"),
        pytest.param(["2026-01-05", "2026-02-05", "2026-02-20", "2026-03-05"], 0, id="one between"),
        pytest.param(["2025-08-05", "2025-09-05", "2025-10-05"], 0, id="ended"),
    ],
)
def test_enough_steady_payments_are_needed(days, count):
    payments = build_payments([date.fromisoformat(day) for day in days])
    assert len(find_recurring_payments(payments, today=date(2026, 3, 10))) == count


def test_one_missed_payment_in_a_long_history_is_tolerated():
    days = [INTERVALS[1].add_to(START, number) for number in range(14) if number != 8]
    (recurring_payment,) = find_recurring_payments(build_payments(days), today=days[-1])
    assert [payment.date for payment in recurring_payment.payments] == days[8:]


def test_late_payment_is_expected_from_today_on():
    days = [date(2026, month, 5) for month in (1, 2, 3)]
    (recurring_payment,) = find_recurring_payments(build_payments(days), today=date(2026, 4, 20))
    assert recurring_payment.next_date == date(2026, 5, 5)


def test_two_payments_a_year_apart_beside_others_are_chance():
    growing = [str(-100 * Decimal("1.04") ** number) for number in range(13)]
    days = [INTERVALS[1].add_to(START, number) for number in range(13)]
    yearly = build_payments([days[0], days[12]], "-9000.00", first_id=50)
    recurring_payments = find_recurring_payments([*build_payments(days, growing), *yearly], today=days[12])
    assert [each.interval.unit for each in recurring_payments] == ["month"]
    assert len(find_recurring_payments(yearly, today=days[12])) == 1
