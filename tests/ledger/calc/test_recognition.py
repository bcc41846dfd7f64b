"""Service periods, and how an amount is spread over them."""

import json
from datetime import date, timedelta
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ledger.calc.recognition import DateRule, compute_service_period, spread_amount
from ledger.money.calc.money import round_half_up

PUBLISHED = json.loads((Path(__file__).parents[2] / "data" / "revrec_examples.json").read_text())
DAY = date(2024, 5, 20)
DAYS = st.dates(min_value=date(2000, 1, 1), max_value=date(2060, 12, 31))


@pytest.mark.parametrize(
    ("rule", "start", "end"),
    [
        ("transactionDate", DAY, DAY),
        ("month", date(2024, 5, 1), date(2024, 5, 31)),
        ("quarter", date(2024, 4, 1), date(2024, 6, 30)),
        ("year", date(2024, 1, 1), date(2024, 12, 31)),
        ("previousMonth", date(2024, 4, 1), date(2024, 4, 30)),
        ("nextMonth", date(2024, 6, 1), date(2024, 6, 30)),
    ],
)
def test_date_rule_yields_whole_period_around_transaction_date(rule, start, end):
    assert compute_service_period(rule, DAY) == (start, end)


@pytest.mark.parametrize(
    ("rule", "day", "start", "end"),
    [
        ("previousMonth", date(2024, 1, 31), date(2023, 12, 1), date(2023, 12, 31)),
        ("previousMonth", date(2024, 3, 31), date(2024, 2, 1), date(2024, 2, 29)),
        ("nextMonth", date(2023, 12, 31), date(2024, 1, 1), date(2024, 1, 31)),
        ("nextMonth", date(2023, 1, 31), date(2023, 2, 1), date(2023, 2, 28)),
        ("quarter", date(2024, 1, 1), date(2024, 1, 1), date(2024, 3, 31)),
        ("quarter", date(2024, 12, 31), date(2024, 10, 1), date(2024, 12, 31)),
    ],
)
def test_service_periods_at_month_and_year_ends_are_whole(rule, day, start, end):
    assert compute_service_period(rule, day) == (start, end)


def test_service_period_uses_invoice_date_or_else_transaction_date():
    assert compute_service_period("invoiceDate", DAY, invoice_date=date(2024, 4, 2)) == (
        date(2024, 4, 2),
        date(2024, 4, 2),
    )
    assert compute_service_period("invoiceDate", DAY) == (DAY, DAY)


@pytest.mark.parametrize("rule", ["servicePeriod", "custom"])
def test_explicit_service_period_needs_start_and_end_in_order(rule):
    assert compute_service_period(rule, DAY, start=date(2024, 1, 5), end=date(2024, 2, 4)) == (
        date(2024, 1, 5),
        date(2024, 2, 4),
    )
    for start, end in [(None, DAY), (DAY, None), (DAY, DAY - timedelta(days=1))]:
        with pytest.raises(ValueError, match="start"):
            compute_service_period(rule, DAY, start=start, end=end)


def test_unknown_date_rule_is_rejected():
    with pytest.raises(ValueError, match="fortnight"):
        compute_service_period("fortnight", DAY)


def test_every_date_rule_yields_a_service_period():
    for rule in DateRule:
        start, end = compute_service_period(rule, DAY, start=DAY, end=DAY)
        assert start <= end


@pytest.mark.parametrize(
    "example", [example for example in PUBLISHED if "byDay" in example], ids=lambda example: example["source"]
)
def test_spread_amounts_match_published_tables(example):
    parts = spread_amount(
        Decimal(example["amount"]),
        currency=example["currency"],
        start=date.fromisoformat(example["start"]),
        end=date.fromisoformat(example["end"]),
    )
    for month, part in example["byDay"].items():
        assert parts[date.fromisoformat(month + "-01")] == Decimal(part)
    assert sum(parts.values()) == Decimal(example["amount"])


@given(
    amount=st.decimals(-(10**15), 10**15, places=2),
    currency=st.sampled_from(["EUR", "JPY"]),
    start=DAYS,
    days=st.integers(0, 1500),
)
@settings(max_examples=100)
def test_spread_amounts_sum_to_total_and_running_totals_are_rounded(amount, currency, start, days):
    end = start + timedelta(days=days)
    if currency == "JPY":
        amount = round_half_up(amount, "JPY")
    parts = spread_amount(amount, currency=currency, start=start, end=end)
    assert sum(parts.values()) == amount
    assert list(parts) == sorted(parts)
    assert all(parts.values())
    total = Decimal(0)
    for month, part in parts.items():
        total += part
        next_month = date(month.year + month.month // 12, month.month % 12 + 1, 1)
        passed = min((next_month - start).days, days + 1)
        assert total == round_half_up(amount * passed / (days + 1), currency)


@given(amount=st.decimals(-(10**9), 10**9, places=4), start=DAYS, days=st.integers(0, 900))
@settings(max_examples=50)
def test_refund_is_spread_like_its_payment(amount, start, days):
    end = start + timedelta(days=days)
    paid = spread_amount(amount, currency="EUR", start=start, end=end)
    refunded = spread_amount(-amount, currency="EUR", start=start, end=end)
    assert refunded == {month: -part for month, part in paid.items()}
    assert sum(paid.values()) == amount


def test_period_within_one_month_yields_one_amount():
    assert spread_amount(Decimal("9.99"), currency="EUR", start=date(2024, 2, 3), end=date(2024, 2, 29)) == {
        date(2024, 2, 1): Decimal("9.99")
    }


def test_zero_amount_has_no_months():
    assert spread_amount(Decimal("0.00"), currency="EUR", start=date(2024, 1, 1), end=date(2024, 12, 31)) == {}


def test_one_cent_spread_over_a_year_sums_to_one_cent():
    assert sum(
        spread_amount(Decimal("0.01"), currency="EUR", start=date(2024, 1, 1), end=date(2024, 12, 31)).values()
    ) == Decimal("0.01")


def test_service_period_ending_before_start_is_rejected():
    with pytest.raises(ValueError, match="before it starts"):
        spread_amount(Decimal(1), currency="EUR", start=date(2024, 1, 2), end=date(2024, 1, 1))
