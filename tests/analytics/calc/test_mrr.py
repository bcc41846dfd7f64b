"""What contracts are worth a month, what each customer did, and rows that close."""

import csv
from datetime import date, timedelta
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analytics.calc.mrr import (
    MOVEMENTS,
    classify_customer_month,
    compute_contract_value,
    round_monthly_row,
    to_annual_row,
)
from ledger.calc.months import get_last_day_of_month, list_months
from ledger.money.calc.fx import RateLookupError, RateTable
from ledger.money.calc.money import get_minor_units, get_smallest_unit, round_half_up
from ledger.subscriptions.calc.monthly_value import compute_monthly_value
from tests.analytics.reference_mrr import Event, build_month_end_factors, compute_monthly_rows, snapshots

with (Path(__file__).parents[2] / "data" / "mrr_normalization_killbill.csv").open(newline="") as file:
    PUBLISHED = [row for row in csv.DictReader(file) if row["period"] in {"MONTHLY", "ANNUAL"}]

MONTHS = list_months(date(2024, 1, 1), date(2024, 6, 1))
EURO = {"EUR": Decimal(1)}


def build_euro_history(*amounts):
    """A customer's history in euro; 0 is not a contract."""
    return [{"EUR": Decimal(amount)} if Decimal(amount) else {} for amount in amounts]


def build_monthly_rows(*histories):
    months = MONTHS[: len(histories[0])]
    return compute_monthly_rows(histories, months=months, factors=[EURO] * len(months), base="EUR")


# Monthly values


def test_monthly_value_of_prices_matches_published_table():
    for row in PUBLISHED:
        worth = compute_monthly_value(Decimal(row["price"]), {"MONTHLY": "month", "ANNUAL": "year"}[row["period"]])
        assert abs(worth - Decimal(row["mrr"])) <= Decimal("0.00005")


def test_published_price_table_has_monthly_and_annual_prices():
    assert {row["period"] for row in PUBLISHED} == {"MONTHLY", "ANNUAL"}


@pytest.mark.parametrize(
    ("interval", "count", "factor"),
    [
        ("month", 1, Fraction(1)),
        ("month", 3, Fraction(1, 3)),
        ("year", 1, Fraction(1, 12)),
        ("year", 2, Fraction(1, 24)),
        ("week", 1, Fraction(52, 12)),
        ("week", 2, Fraction(52, 24)),
        ("day", 1, Fraction(365, 12)),
        ("day", 30, Fraction(365, 360)),
    ],
)
def test_monthly_value_is_twelfth_of_annualized_interval_price(interval, count, factor):
    worth = compute_monthly_value(Decimal("99.90"), interval, count)
    assert abs(Fraction(worth) - Fraction("99.90") * factor) < Fraction(1, 10**40)


@pytest.mark.parametrize(("interval", "count"), [("quarter", 1), ("month", 0), ("month", -1)])
def test_monthly_value_rejects_invalid_billing_interval(interval, count):
    with pytest.raises(ValueError, match="billed"):
        compute_monthly_value(Decimal(1), interval, count)


# Snapshots


def test_mrr_snapshot_counts_events_up_to_last_day_of_month():
    events = [
        Event("s", date(2024, 1, 31), Decimal(10), "EUR"),
        Event("s", date(2024, 3, 1), Decimal(0), "EUR"),
    ]
    assert snapshots(events, months=MONTHS[:4]) == build_euro_history(10, 10, 0, 0)


def test_mrr_snapshot_uses_later_of_same_day_events_in_any_day_order():
    events = [
        Event("s", date(2024, 2, 5), Decimal(30), "EUR"),
        Event("s", date(2024, 1, 5), Decimal(10), "EUR"),
        Event("s", date(2024, 1, 5), Decimal(20), "EUR"),
    ]
    assert snapshots(events, months=MONTHS[:2]) == build_euro_history(20, 30)


def test_mrr_snapshot_sums_customer_subscriptions_by_currency():
    day = date(2024, 1, 1)
    events = [
        Event("a", day, Decimal(10), "EUR"),
        Event("b", day, Decimal(5), "EUR"),
        Event("c", day, Decimal(7), "USD"),
        Event("c", date(2024, 2, 1), Decimal(7), "EUR"),
    ]
    assert snapshots(events, months=MONTHS[:2]) == [
        {"EUR": Decimal(15), "USD": Decimal(7)},
        {"EUR": Decimal(22)},
    ]


# One customer's month


@pytest.mark.parametrize(
    ("before", "now", "seen", "kind", "amount"),
    [
        (0, 10, False, "new", 10),
        (0, 10, True, "reactivate", 10),
        (10, 15, True, "upgrade", 5),
        (10, 4, True, "downgrade", -6),
        (10, 0, True, "cancel", -10),
        (10, 10, True, None, 0),
        (0, 0, True, None, 0),
        (0, 0, False, None, 0),
    ],
)
def test_mrr_classifies_one_movement_per_customer_and_month(before, now, seen, kind, amount):
    [contracts_before], [contracts_now] = build_euro_history(before), build_euro_history(now)
    change = classify_customer_month(
        previous=contracts_before, current=contracts_now, reported=Decimal(before), factors=EURO, was_active_before=seen
    )
    assert (change.kind, change.amount, change.currency, change.value) == (kind, amount, 0, now)


def test_mrr_rate_change_is_neither_upgrade_nor_downgrade():
    dollars = {"USD": Decimal(100)}
    change = classify_customer_month(
        previous=dollars, current=dollars, reported=Decimal(90), factors={"USD": Decimal("0.8")}, was_active_before=True
    )
    assert (change.kind, change.currency, change.value) == (None, Decimal(-10), Decimal(80))


def test_mrr_upgrade_uses_current_rate_and_separates_currency_effect():
    change = classify_customer_month(
        previous={"USD": Decimal(100)},
        current={"USD": Decimal(150)},
        reported=Decimal(90),
        factors={"USD": Decimal("0.8")},
        was_active_before=True,
    )
    assert (change.kind, change.amount, change.currency) == ("upgrade", Decimal(40), Decimal(-10))


def test_mrr_cancellation_removes_reported_amount_at_any_rate():
    change = classify_customer_month(
        previous={"USD": Decimal(100)},
        current={},
        reported=Decimal(90),
        factors={"USD": Decimal("0.1")},
        was_active_before=True,
    )
    assert (change.kind, change.amount, change.currency, change.value) == ("cancel", -90, 0, 0)


def test_mrr_loss_of_one_of_two_contracts_is_a_downgrade():
    [change] = [
        classify_customer_month(
            previous={"EUR": Decimal(10), "USD": Decimal(10)},
            current={"EUR": Decimal(10)},
            reported=Decimal(20),
            factors={"EUR": Decimal(1), "USD": Decimal(1)},
            was_active_before=True,
        )
    ]
    assert (change.kind, change.amount) == ("downgrade", -10)


def test_mrr_change_of_billing_interval_at_same_value_is_no_upgrade():
    weekly, yearly = compute_monthly_value(Decimal("10.01"), "week"), compute_monthly_value(Decimal("520.52"), "year")
    thirds = compute_monthly_value(Decimal("10.01"), "week", 3) * 3
    change = classify_customer_month(
        previous={"EUR": weekly}, current={"EUR": thirds}, reported=weekly, factors=EURO, was_active_before=True
    )
    assert abs(weekly - yearly) < Decimal("1e-40")
    assert change.kind is None


def test_mrr_missing_exchange_rate_raises_error():
    with pytest.raises(RateLookupError, match="USD"):
        compute_contract_value({"USD": Decimal(1)}, EURO)
    with pytest.raises(RateLookupError):
        build_month_end_factors(RateTable([]), months=MONTHS, base="EUR", currencies=["USD"])


def test_mrr_month_factor_is_rate_of_last_day_or_latest_known_rate():
    rates = RateTable(
        [
            ("USD", date(2024, 1, 31), Decimal(2)),
            ("USD", date(2024, 2, 1), Decimal(4)),
            ("USD", date(2024, 2, 20), Decimal(5)),
        ]
    )
    factors = build_month_end_factors(rates, months=MONTHS[:3], base="EUR", currencies=["USD"])
    assert [row["USD"] for row in factors] == [Decimal("0.5"), Decimal("0.2"), Decimal("0.2")]
    assert all(row["EUR"] == 1 for row in factors)


# Rows


def test_mrr_monthly_rows_show_customer_lifecycle():
    rows = build_monthly_rows(build_euro_history(10, 15, 5, 0, 0, 8))
    answers = [
        {name: getattr(row, name) for name in MOVEMENTS if getattr(row, name)} for row in rows
    ]  # fmt: skip
    assert answers == [{"new": 10}, {"upgrade": 5}, {"downgrade": -10}, {"cancel": -5}, {}, {"reactivate": 8}]
    assert [(row.start, row.end) for row in rows] == [(0, 10), (10, 15), (15, 5), (5, 0), (0, 0), (0, 8)]
    assert [(row.start_count, row.end_count) for row in rows] == [(0, 1), (1, 1), (1, 1), (1, 0), (0, 0), (0, 1)]


def test_mrr_counts_are_numbers_of_customers():
    rows = build_monthly_rows(
        build_euro_history(10, 10), build_euro_history(10, 20), build_euro_history(0, 30), build_euro_history(10, 0)
    )
    assert (rows[1].new_count, rows[1].upgrade_count, rows[1].cancel_count, rows[1].downgrade_count) == (1, 1, 1, 0)
    assert (rows[1].start_count, rows[1].end_count) == (3, 3)


def test_mrr_twelfths_summing_to_half_a_cent_round_up():
    twelfth = compute_monthly_value(Decimal("1.30"), "year")
    [row] = build_monthly_rows(*[build_euro_history(twelfth)] * 3)
    assert row.new == row.end == Decimal("0.33")


def test_close_row_treats_near_half_cent_as_half_cent():
    half = Decimal("0.00499999999999999999999999")
    row = round_monthly_row(
        month=MONTHS[0],
        base="EUR",
        start=half,
        start_count=1,
        end=half + half + 5,
        amounts={"new": half, "upgrade": Decimal(5)},
        counts={"new": 1},
    )
    assert (row.start, row.new, row.upgrade, row.currency, row.end) == (
        Decimal("0.01"),
        Decimal("0.01"),
        Decimal("5.00"),
        Decimal("-0.01"),
        Decimal("5.01"),
    )


def test_mrr_currency_movement_is_counted_from_half_a_minor_unit():
    def counted(amount, base):
        factors = [{"USD": Decimal(1), base: Decimal(1)}, {"USD": 1 + Decimal(amount), base: Decimal(1)}]
        contracts = {"USD": Decimal(1)}
        return compute_monthly_rows([[contracts, contracts]], months=MONTHS[:2], factors=factors, base=base)[
            1
        ].currency_count

    assert [counted("0.005", "EUR"), counted("-0.005", "EUR"), counted("0.0049", "EUR")] == [1, 1, 0]
    assert [counted("0.5", "JPY"), counted("0.49", "JPY")] == [1, 0]


def test_close_row_rounds_movements_and_puts_remainder_into_currency():
    row = round_monthly_row(
        month=MONTHS[0],
        base="EUR",
        start=Decimal("10.004"),
        start_count=2,
        end=Decimal("14.012"),
        amounts={"new": Decimal("5.004"), "cancel": Decimal("-1.004"), "currency": Decimal("0.008")},
        counts={"new": 1, "cancel": 1},
    )
    assert (row.new, row.cancel, row.currency) == (Decimal("5.00"), Decimal("-1.00"), Decimal("0.01"))
    assert row.currency_count == 0  # cents of rounding are nobody's
    row = round_monthly_row(
        month=MONTHS[0],
        base="EUR",
        start=Decimal("10.004"),
        start_count=2,
        end=Decimal("6.008"),
        amounts={"new": Decimal("1.004"), "cancel": Decimal("-5.004"), "upgrade": Decimal("0.004")},
        counts={"new": 1, "cancel": 1},
    )
    assert (row.start, row.new, row.cancel, row.upgrade, row.end) == (10, 1, -5, 0, Decimal("6.01"))
    assert row.currency == Decimal("0.01")


def test_close_row_rejects_movements_that_do_not_reach_end_value():
    with pytest.raises(ValueError, match=r"^The movements of 2024-01-01 do not lead from 1\.0+ to 3\.0+\.$"):
        round_monthly_row(
            month=MONTHS[0], base="EUR", start=Decimal(1), start_count=0, end=Decimal(3), amounts={}, counts={}
        )  # fmt: skip


@pytest.mark.parametrize(("base", "unit"), [("EUR", "0.01"), ("JPY", "1")])
def test_close_row_tolerates_difference_of_one_minor_unit_only(base, unit):
    nothing = {"month": MONTHS[0], "base": base, "start": Decimal(0), "start_count": 0, "amounts": {}, "counts": {}}
    row = round_monthly_row(**nothing, end=Decimal(unit))
    assert (row.new, row.currency, row.end, row.end_count) == (0, Decimal(unit), Decimal(unit), 0)
    with pytest.raises(ValueError, match="do not lead"):
        round_monthly_row(**nothing, end=Decimal(unit) + Decimal("0.0001"))


AMOUNTS = st.just(Decimal(0)) | st.decimals("0.0001", 10_000, places=4)
CUSTOMERS = st.lists(
    st.lists(
        st.fixed_dictionaries({"EUR": AMOUNTS, "USD": AMOUNTS, "JPY": AMOUNTS}),
        min_size=len(MONTHS),
        max_size=len(MONTHS),
    ),
    max_size=6,
)
RATES = st.lists(
    st.fixed_dictionaries({"USD": st.decimals("0.5", 2, places=4), "JPY": st.decimals(90, 180, places=2)}),
    min_size=len(MONTHS),
    max_size=len(MONTHS),
)


@given(customers=CUSTOMERS, rates=RATES, base=st.sampled_from(["EUR", "USD", "JPY"]))
@settings(max_examples=60)
def test_mrr_rows_close_exactly_and_end_at_total_contract_value(customers, rates, base):
    table = RateTable(
        (currency, get_last_day_of_month(month), rate)
        for month, row in zip(MONTHS, rates, strict=True)
        for currency, rate in row.items()
    )
    factors = build_month_end_factors(table, months=MONTHS, base=base, currencies=["EUR", "USD", "JPY"])
    rows = compute_monthly_rows(customers, months=MONTHS, factors=factors, base=base)
    before = None
    for index, row in enumerate(rows):
        assert row.start + sum(getattr(row, name) for name in MOVEMENTS) == row.end
        assert row.start_count + row.new_count + row.reactivate_count - row.cancel_count == row.end_count
        assert row.end_count == sum(any(history[index].values()) for history in customers)
        assert row.end == compute_exact_value(customers, index, rates[index], base)
        assert (row.start, row.start_count) == ((before.end, before.end_count) if before else (0, 0))
        assert all(
            getattr(row, name).as_tuple().exponent == -get_minor_units(base) for name in ("start", *MOVEMENTS, "end")
        )
        before = row


def compute_exact_value(customers, index, rates, base):
    """All contracts of a month in the base currency by fractions, rounded half-up."""
    per_euro = {name: Fraction(rate) for name, rate in rates.items()} | {"EUR": Fraction(1)}
    total = sum(
        (
            Fraction(amount) / per_euro[currency] * per_euro[base]
            for history in customers
            for currency, amount in history[index].items()
        ),
        Fraction(),
    )
    units = total * 10 ** get_minor_units(base)
    return Decimal(int(units + Fraction(1, 2))) * get_smallest_unit(base)


@given(customers=CUSTOMERS)
@settings(max_examples=30)
def test_annual_row_is_twelve_times_rounded_monthly_row(customers):
    for row in compute_monthly_rows(
        customers, months=MONTHS, factors=[EURO | {"USD": Decimal("0.9"), "JPY": Decimal("0.006")}] * 6, base="EUR"
    ):
        yearly = to_annual_row(row)
        assert yearly.end == 12 * row.end
        assert yearly.start + sum(getattr(yearly, name) for name in MOVEMENTS) == yearly.end
        assert (yearly.month, yearly.end_count, yearly.new_count) == (row.month, row.end_count, row.new_count)
        assert yearly.end == round_half_up(yearly.end, "EUR")


@given(
    drawn=st.lists(
        st.tuples(
            st.sampled_from("ab"), st.integers(0, 200), st.sampled_from([0, 10, 20]), st.sampled_from(["EUR", "USD"])
        ),
        max_size=8,
    )
)
@settings(max_examples=60)
def test_mrr_snapshot_reflects_last_event_of_each_subscription(drawn):
    events = [
        Event(name, date(2023, 12, 20) + timedelta(days=offset), Decimal(amount), currency)
        for name, offset, amount, currency in drawn
    ]
    for month, contracts in zip(MONTHS, snapshots(events, months=MONTHS), strict=True):
        expected = {}
        for name in "ab":
            own = [
                event for event in events if event.subscription == name and event.day <= get_last_day_of_month(month)
            ]
            if own:
                last = max(enumerate(own), key=lambda pair: (pair[1].day, pair[0]))[1]
                expected[last.currency] = expected.get(last.currency, 0) + last.monthly
        assert contracts == {currency: amount for currency, amount in expected.items() if amount}
