"""Movements of many customers at once are those of each, one after the other."""

from datetime import date, timedelta
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analytics.calc.mrr import (
    MOVEMENTS,
    MovementTotals,
    MrrAggregator,
    build_contract_key,
    build_history,
    from_month_number,
    to_month_number,
)
from ledger.calc.months import get_last_day_of_month, list_months
from ledger.money.calc.fx import RateTable
from ledger.money.calc.money import get_smallest_unit, round_half_up
from ledger.subscriptions.calc.monthly_value import compute_monthly_value, drop_rounding_noise
from tests.analytics.reference_mrr import Event, build_month_end_factors, compute_monthly_rows, snapshots

MONTHS = list_months(date(2023, 12, 1), date(2024, 6, 1))
PRICES = st.sampled_from([Decimal(0), Decimal(10), Decimal("0.07"), Decimal(25), Decimal("100")])
EVENTS = st.lists(
    st.tuples(
        st.sampled_from("ab"),
        st.integers(0, 190),
        PRICES,
        st.sampled_from(["EUR", "USD", "JPY"]),
        st.sampled_from(["month", "year", "week"]),
    ),
    max_size=7,
)
RATES = st.lists(
    st.fixed_dictionaries({"USD": st.sampled_from(["1", "1.1", "0.9"]), "JPY": st.decimals(90, 180, places=2)}),
    min_size=len(MONTHS),
    max_size=len(MONTHS),
)


def build_events(drawn):
    return sorted(
        (
            Event(name, date(2023, 12, 1) + timedelta(days=offset), compute_monthly_value(price, interval), currency)
            for name, offset, price, currency, interval in drawn
        ),
        key=lambda event: event.day,
    )


def build_customer_history(events):
    return build_history((event.day, event.subscription, event.currency, event.monthly) for event in events)


@given(customers=st.lists(EVENTS, max_size=6), rates=RATES, base=st.sampled_from(["EUR", "USD", "JPY"]))
@settings(max_examples=300)
def test_mrr_aggregation_equals_row_by_row_computation(customers, rates, base):
    table = RateTable(
        (currency, get_last_day_of_month(month), Decimal(rate))
        for month, row in zip(MONTHS, rates, strict=True)
        for currency, rate in row.items()
    )
    factors = build_month_end_factors(table, months=MONTHS, base=base, currencies=["EUR", "USD", "JPY"])
    events = [build_events(drawn) for drawn in customers]
    expected = compute_monthly_rows(
        [snapshots(e, months=MONTHS) for e in events], months=MONTHS, factors=factors, base=base
    )
    book = MrrAggregator(base)
    for each in events:
        book.add_history(build_customer_history(each))
    result = book.compute_totals(
        get_factors=lambda number: factors[min(max(number - to_month_number(MONTHS[0]), 0), len(factors) - 1)],
        until=to_month_number(MONTHS[-1]),
    )
    start = Decimal(0)
    for row in expected:
        totals = result.get(to_month_number(row.month))
        counts = totals.counts if totals else dict.fromkeys(MOVEMENTS, 0)
        assert counts == {name: getattr(row, f"{name}_count") for name in MOVEMENTS}
        end = start + sum(totals.amounts.values()) if totals else start
        assert abs(drop_rounding_noise(end) - row.end) <= Decimal("0.5")
        for name in MOVEMENTS if totals else ():
            if name == "currency":  # takes what rounding the others leaves over
                assert abs(totals.amounts[name] - row.currency) <= 4 * get_smallest_unit(base)
            else:
                assert round_half_up(drop_rounding_noise(totals.amounts[name]), base) == getattr(row, name)
        start = end


@given(before=EVENTS, after=EVENTS, others=st.lists(EVENTS, max_size=3))
@settings(max_examples=100)
def test_mrr_aggregator_removing_old_and_adding_new_history_is_exact(before, after, others):
    factors = {
        month: {"EUR": Decimal(1), "USD": Decimal(1) / (index + 1), "JPY": Decimal("0.006")}
        for index, month in enumerate(MONTHS)
    }

    def totals(book):
        return book.compute_totals(
            get_factors=lambda number: factors.get(from_month_number(number), factors[MONTHS[-1]]),
            until=to_month_number(MONTHS[-1]),
        )

    whole, remaining, change = MrrAggregator("EUR"), MrrAggregator("EUR"), MrrAggregator("EUR")
    for each in others:
        whole.add_history(build_customer_history(build_events(each)))
        remaining.add_history(build_customer_history(build_events(each)))
    whole.add_history(build_customer_history(build_events(after)))
    remaining.add_history(build_customer_history(build_events(before)))
    change.add_history(build_customer_history(build_events(before)), times=-1)
    change.add_history(build_customer_history(build_events(after)))
    expected, result, moved = totals(whole), totals(remaining), totals(change)
    for number in {*expected, *result, *moved}:
        for name in MOVEMENTS:
            got = sum(table[number].amounts[name] for table in (result, moved) if number in table)
            counted = sum(table[number].counts[name] for table in (result, moved) if number in table)
            want = expected[number].amounts[name] if number in expected else 0
            assert abs(got - want) < Decimal("1e-20")
            assert counted == (expected[number].counts[name] if number in expected else 0)


JANUARY = to_month_number(date(2024, 1, 1))
DOLLAR = ["0.5", "0.6", "0.4", "0.4"]  # in euro at the ends of January to April; before and after as at the nearest


def parse_contracts(text):
    """Contracts written as in "10 EUR + 5 USD"; none as ""."""
    pairs = [part.split() for part in text.split(" + ") if part]
    return {currency: Decimal(amount) for amount, currency in pairs}


def summarize_movements(*customers, base="EUR", until=JANUARY + 3):
    """Month from January on -> what happened in it, as (amount, customers), of contracts at the ends of months."""
    book = MrrAggregator(base)
    for months in customers:
        held = [parse_contracts(text) for text in months]
        book.add_history([(JANUARY + n, now) for n, now in enumerate(held) if now != (held[n - 1] if n else {})])

    def factors_of(number):
        dollar = Decimal(DOLLAR[min(max(number - JANUARY, 0), 3)])
        return {"EUR": Decimal(1), "USD": dollar} if base == "EUR" else {"USD": Decimal(1), "EUR": 1 / dollar}

    return {
        number - JANUARY + 1: {
            name: (totals.amounts[name], totals.counts[name])
            for name in MOVEMENTS
            if totals.amounts[name] or totals.counts[name]
        }
        for number, totals in book.compute_totals(get_factors=factors_of, until=until).items()
    }


@pytest.mark.parametrize(
    ("months", "movements"),
    [
        (["10 EUR", "10 EUR", "10 EUR"], [{"new": (10, 1)}, {}, {}, {}]),
        (["10 EUR", "15 EUR", "4 EUR"], [{"new": (10, 1)}, {"upgrade": (5, 1)}, {"downgrade": (-11, 1)}, {}]),
        (["10 EUR", "", "4 EUR"], [{"new": (10, 1)}, {"cancel": (-10, 1)}, {"reactivate": (4, 1)}, {}]),
        (["10 USD", "10 USD", "10 USD"], [{"new": (5, 1)}, {"currency": (1, 1)}, {"currency": (-2, 1)}, {}]),
        # What was reported goes, at the rate at which it was reported.
        (["10 USD", "10 USD", ""], [{"new": (5, 1)}, {"currency": (1, 1)}, {"cancel": (-6, 1)}, {}]),
        (["10 USD", ""], [{"new": (5, 1)}, {"cancel": (-5, 1)}, {}, {}]),
        # Up and down at this month's rate, and what the rate did apart from it.
        (["10 USD", "20 USD"], [{"new": (5, 1)}, {"upgrade": (6, 1), "currency": (1, 1)}, {"currency": (-4, 1)}, {}]),
        (
            ["20 USD", "10 USD"],
            [{"new": (10, 1)}, {"downgrade": (-6, 1), "currency": (2, 1)}, {"currency": (-2, 1)}, {}],
        ),
        (["10 EUR + 10 USD", "10 EUR"], [{"new": (15, 1)}, {"downgrade": (-6, 1), "currency": (1, 1)}, {}, {}]),
        (["10 EUR", "10 EUR + 10 USD"], [{"new": (10, 1)}, {"upgrade": (6, 1)}, {"currency": (-2, 1)}, {}]),
        (
            ["10 EUR + 10 USD", "10 EUR + 10 USD", "10 EUR + 10 USD"],
            [{"new": (15, 1)}, {"currency": (1, 1)}, {"currency": (-2, 1)}, {}],
        ),
        # Worth the same at the rates of the month: neither up nor down.
        (["6 EUR", "10 USD"], [{"new": (6, 1)}, {}, {"currency": (-2, 1)}, {}]),
        (["1 EUR", "1.00005 EUR"], [{"new": (1, 1)}, {"upgrade": (Decimal("0.00005"), 1)}, {}, {}]),
    ],
    ids=str,
)  # fmt: skip
def test_movements_list_each_month_of_a_customer(months, movements):
    months += [months[-1]] * (4 - len(months))
    assert summarize_movements(months) == dict(enumerate(movements, start=1))
    twice = [{name: (2 * amount, 2 * count) for name, (amount, count) in month.items()} for month in movements]
    assert summarize_movements(months, months) == dict(enumerate(twice, start=1))


@pytest.mark.parametrize(
    ("dollars", "counts"),
    [
        ("0.0499", 0),
        ("0.04999999999", 0),
        ("0.049999999994", 0),
        ("0.049999999995", 1),  # half a cent in twelve decimals: below them is noise
        ("0.05", 1),
        ("0.0501", 1),
    ],
)
@pytest.mark.parametrize("more", ["", " + 9 EUR"])
def test_mrr_currency_movement_counts_customers_from_half_a_cent(dollars, counts, more):
    result = summarize_movements([f"{dollars} USD{more}"] * 2, until=JANUARY + 1)[2]
    assert result == {"currency": (Decimal(dollars) / 10, counts)}


@pytest.mark.parametrize("noise", ["0.0000000000001", "-0.0000000000001"])
def test_movements_count_rounding_noise_as_currency_effect(noise):
    dollars = 10 + Decimal(noise)
    result = summarize_movements(["6 EUR", f"{dollars} USD"], until=JANUARY + 1)[2]
    assert result == {"currency": (Decimal(noise) * Decimal("0.6"), 0)}


def test_mrr_rates_do_not_move_contracts_in_base_currency():
    assert summarize_movements(["10 USD"] * 4, base="USD") == {1: {"new": (10, 1)}, 2: {}, 3: {}, 4: {}}
    assert summarize_movements(["6 EUR"] * 2, base="USD", until=JANUARY + 1) == {
        1: {"new": (12, 1)}, 2: {"currency": (pytest.approx(Decimal(-2)), 1)},
    }  # fmt: skip


def test_mrr_movements_cover_first_to_last_contract_or_rate_change():
    assert summarize_movements() == {}
    assert list(summarize_movements(["", "10 EUR"], until=JANUARY - 5)) == [2]
    assert list(summarize_movements(["", "10 EUR", ""], until=JANUARY - 5)) == [2, 3]
    assert list(summarize_movements(["", "10 EUR"], until=JANUARY + 5)) == [2, 3, 4, 5, 6]


def test_mrr_movements_end_at_last_calendar_month():
    last = to_month_number(date.max)
    book = MrrAggregator("EUR")
    book.add_history([(last, {"USD": Decimal(10)})])
    assert list(
        book.compute_totals(get_factors=lambda number: {"EUR": Decimal(1), "USD": Decimal(1)}, until=last + 9)
    ) == [last]


def test_contract_key_does_not_depend_on_contract_order():
    assert (
        build_contract_key(parse_contracts("10 USD + 5 EUR"))
        == build_contract_key(parse_contracts("5 EUR + 10 USD"))
        == (("EUR", 5), ("USD", 10))
    )


def test_movement_totals_are_truthy_if_amount_or_count_is_nonzero():
    nothing, amount, count = MovementTotals(), MovementTotals(), MovementTotals()
    amount.add("new", Decimal(5), 0)
    count.add("new", Decimal(0), 1)
    amount.add("new", Decimal(2), 0)
    count.add("new", Decimal(0), 1)
    assert [bool(each) for each in (nothing, amount, count)] == [False, True, True]
    assert (amount.amounts["new"], count.counts["new"]) == (7, 2)


def test_mrr_history_lists_month_end_contracts_of_months_with_changes():
    events = [
        (date(2024, 1, 5), "a", "EUR", Decimal(10)),
        (date(2024, 1, 5), "b", "EUR", Decimal(5)),
        (date(2024, 1, 31), "c", "USD", Decimal(1)),
        (date(2024, 3, 1), "a", "EUR", Decimal(0)),
        (date(2024, 3, 1), "b", "USD", Decimal(2)),
        (date(2024, 12, 31), "b", "USD", Decimal(0)),
        (date(2024, 12, 31), "c", "USD", Decimal(0)),
    ]
    assert build_history(events) == [
        (JANUARY, parse_contracts("15 EUR + 1 USD")),
        (JANUARY + 2, parse_contracts("3 USD")),
        (JANUARY + 11, {}),
    ]
    assert build_history([]) == []
