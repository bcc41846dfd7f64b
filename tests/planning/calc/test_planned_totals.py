"""How much of planned monthly totals is booked: arithmetic alone."""

from datetime import date
from decimal import Decimal
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledger.money.calc.fx import RateLookupError, RateTable
from planning.calc.planned_totals import BookedAmount, PlannedTotal, compute_settled_amounts

NO_RATES = RateTable([])
A, B = UUID(int=101), UUID(int=102)  # accounts
INITECH, GLOBEX = UUID(int=201), UUID(int=202)


def build_total(number, day, amount, *, currency="EUR", account=A, counterparty=None):
    when = date(2026, 2, day)
    return PlannedTotal(UUID(int=number), when, when, Decimal(amount), currency, account, counterparty)


def build_booked_amount(day, amount, *, currency="EUR", account=A, counterparty=None):
    return BookedAmount(date(2026, 2, day), Decimal(amount), currency, account, counterparty)


def compute_settled(totals, rows, *, rates=NO_RATES):
    settled_amounts = compute_settled_amounts(totals, rows, rates=rates)
    return [str(settled_amounts.get(each.key, Decimal(0))) for each in totals]


@pytest.mark.parametrize(
    ("totals", "rows", "settled"),
    [
        ([build_total(1, 10, 100)], [build_booked_amount(5, 60)], ["60.00"]),
        ([build_total(1, 10, -100)], [build_booked_amount(5, -60)], ["-60.00"]),
        ([build_total(1, 10, 100)], [build_booked_amount(5, 160)], ["100.00"]),
        ([build_total(1, 20, 100), build_total(1, 10, 100)], [build_booked_amount(5, 130)], ["30.00", "100.00"]),
        ([build_total(1, 10, 100, account=B), build_total(2, 20, 100)], [build_booked_amount(5, 130)],
         ["30.00", "100.00"]),
        ([build_total(1, 10, 100, account=None)], [build_booked_amount(5, 30), build_booked_amount(6, 30, account=B)],
         ["60.00"]),
        (
            [build_total(1, 10, 100), build_total(2, 20, 100, counterparty=INITECH)],
            [build_booked_amount(5, 40, counterparty=INITECH), build_booked_amount(5, 50, counterparty=GLOBEX)],
            ["50.00", "40.00"],
        ),
        ([build_total(1, 10, 100)], [build_booked_amount(5, 90), build_booked_amount(6, -30)], ["60.00"]),
        ([build_total(1, 10, 100)], [build_booked_amount(6, -30)], ["0.00"]),
        ([build_total(1, 10, 100, counterparty=INITECH)],
         [build_booked_amount(5, 9, counterparty=INITECH), build_booked_amount(5, -9)], ["9.00"]),
        ([build_total(1, 10, 100), build_total(2, 11, -50)], [build_booked_amount(5, 90), build_booked_amount(6, -30)],
         ["90.00", "-30.00"]),
        ([build_total(1, 10, 0)], [build_booked_amount(5, 90)], ["0"]),
        ([], [build_booked_amount(5, 90)], []),
    ],
    ids=[
        "part", "money out", "never more than planned", "in the order of dates", "first on its account",
        "on any account", "first of its counterparty", "less refunds", "refunds alone", "refunds of others",
        "both directions planned", "nothing planned", "no total",
    ],
)  # fmt: skip
def test_booked_amounts_settle_totals(totals, rows, settled):
    assert compute_settled(totals, rows) == settled


def test_totals_convert_other_currencies_at_rate_of_the_day():
    rates = RateTable([("USD", date(2026, 2, 1), Decimal("1.25"))])
    totals = [build_total(1, 10, 100), build_total(2, 11, 100, currency="USD")]
    assert compute_settled(totals, [build_booked_amount(5, 200, currency="USD")], rates=rates) == ["100.00", "75.00"]
    with pytest.raises(RateLookupError):
        compute_settled(totals, [build_booked_amount(5, 200, currency="GBP")], rates=rates)


AMOUNTS = st.integers(1, 10_000).map(Decimal)
TOTALS = st.lists(
    st.tuples(AMOUNTS, st.integers(1, 28), st.sampled_from([A, B, None]), st.sampled_from([None, INITECH])), max_size=4
)
ROWS = st.lists(
    st.tuples(AMOUNTS, st.integers(1, 28), st.sampled_from([A, B]), st.sampled_from([None, INITECH, GLOBEX])),
    max_size=5,
)


@given(drawn=TOTALS, rows=ROWS, sign=st.sampled_from([1, -1]))
def test_booked_amount_settles_once_and_completely(drawn, rows, sign):
    totals = [
        build_total(number, day, sign * amount, account=account, counterparty=counterparty)
        for number, (amount, day, account, counterparty) in enumerate(drawn)
    ]
    amounts = [
        build_booked_amount(day, sign * amount, account=account, counterparty=counterparty)
        for amount, day, account, counterparty in rows
    ]
    settled_amounts = compute_settled_amounts(totals, amounts, rates=NO_RATES)
    settled = {each.key: abs(settled_amounts.get(each.key, Decimal(0))) for each in totals}
    assert all(settled[each.key] <= abs(each.amount) for each in totals)

    def add(pairs):
        return sum(pairs, start=Decimal(0))

    of_initech = add(amount for amount, _, _, counterparty in rows if counterparty == INITECH)
    for_initech = add(amount for amount, _, _, counterparty in drawn if counterparty == INITECH)
    for_all = add(amount for amount, _, _, counterparty in drawn if counterparty is None)
    taken = min(of_initech, for_initech)
    rest = add(amount for amount, *_ in rows) - taken
    assert add(settled[each.key] for each in totals if each.counterparty_id) == taken
    assert add(settled[each.key] for each in totals if not each.counterparty_id) == min(rest, for_all)
