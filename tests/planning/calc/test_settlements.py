"""How much a transaction can settle, by property, with and without conversion."""

from datetime import date
from decimal import Decimal

from hypothesis import given
from hypothesis import strategies as st

from ledger.money.calc.fx import RateTable
from planning.calc.aging import AgedAmounts, find_aging_bucket
from planning.calc.settlements import (
    Payment,
    SettledAmount,
    compute_largest_settlement,
    compute_transaction_amount,
    get_settlement_state,
)

DAY = date(2026, 3, 2)
CENTS = st.integers(-10_000_00, 10_000_00).filter(bool).map(lambda cents: Decimal(cents) / 100)
RATES = RateTable([("USD", DAY, Decimal("1.0837")), ("JPY", DAY, Decimal("161.37"))])


@given(st.lists(CENTS, max_size=8), CENTS, st.sampled_from(["EUR", "USD", "JPY"]))
def test_settlements_of_one_transaction_never_exceed_it(open_amounts, amount, currency):
    remaining, used = amount, Decimal(0)
    for open_amount in open_amounts:
        payment = Payment(DAY, amount, currency, remaining)
        settled = compute_largest_settlement(open_amount, "EUR", payment, rates=RATES)
        assert abs(settled) <= abs(open_amount)
        assert settled * open_amount >= 0
        if not settled:
            continue
        used_part = compute_transaction_amount(settled, "EUR", payment, rates=RATES)
        used, remaining = used + used_part, remaining - used_part
        assert remaining * amount >= 0
    assert used + remaining == amount


@given(CENTS, CENTS)
def test_settlement_in_one_currency_takes_the_smaller_side(open_amount, amount):
    settled = compute_largest_settlement(open_amount, "EUR", Payment(DAY, amount, "EUR", amount), rates=RATES)
    assert settled == (open_amount if open_amount * amount < 0 else min(open_amount, amount, key=abs))


@given(CENTS, st.integers(0, 100), st.integers(0, 100))
def test_state_follows_from_amounts(amount, paid, written_off):
    paid, written_off = sorted((paid, min(written_off, 100 - paid)), reverse=True)
    settled = SettledAmount(amount * paid / 100, amount * written_off / 100)
    late = get_settlement_state(amount, settled, is_overdue=True)
    state = get_settlement_state(amount, settled, is_overdue=False)
    assert (late == "overdue") == (state in ("open", "partlyPaid")) == (settled.total != amount)
    assert (state == "open") == (settled.total == 0)
    assert (state == "writtenOff") == (settled.total == amount and written_off > 0)


@given(st.integers(-400, 4000), st.lists(st.integers(1, 3650), min_size=1, max_size=6, unique=True).map(sorted))
def test_bucket_contains_the_age(days, interval):
    bucket = find_aging_bucket(days, interval)
    first = [1, *(last + 1 for last in interval)]
    assert bucket == sum(days >= each for each in first) - 1


def test_aged_amounts_add_up():
    aged = AgedAmounts.empty([30])
    for bucket, amount in ((-1, 5), (0, 7), (1, 11), (1, -1)):
        aged.add(bucket, Decimal(amount))
    assert (aged.current, aged.buckets, aged.total) == (5, [7, 10], 22)
