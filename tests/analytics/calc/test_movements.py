"""Movements of many customers at once are those of each, one after the other."""

from datetime import date, timedelta
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analytics.calc.movements import Movements, Totals, history_of, month_of, number_of, shape
from analytics.calc.mrr import MOVEMENTS
from ledger.calc.fx import RateTable
from ledger.calc.money import round_half_up, smallest_unit
from ledger.calc.months import last_of_month, months_from
from ledger.subscriptions.calc import cut, monthly_value
from tests.analytics.by_hand import Event, month_end_factors, monthly_rows, snapshots

MONTHS = months_from(date(2023, 12, 1), date(2024, 6, 1))
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


def events_of(drawn):
    return sorted(
        (
            Event(name, date(2023, 12, 1) + timedelta(days=offset), monthly_value(price, interval), currency)
            for name, offset, price, currency, interval in drawn
        ),
        key=lambda event: event.day,
    )


def history(events):
    return history_of((event.day, event.subscription, event.currency, event.monthly) for event in events)


@given(customers=st.lists(EVENTS, max_size=6), rates=RATES, base=st.sampled_from(["EUR", "USD", "JPY"]))
@settings(max_examples=300)
def test_all_at_once_is_the_same_as_one_by_one(customers, rates, base):
    table = RateTable(
        (currency, last_of_month(month), Decimal(rate))
        for month, row in zip(MONTHS, rates, strict=True)
        for currency, rate in row.items()
    )
    factors = month_end_factors(table, months=MONTHS, base=base, currencies=["EUR", "USD", "JPY"])
    events = [events_of(drawn) for drawn in customers]
    expected = monthly_rows([snapshots(e, months=MONTHS) for e in events], months=MONTHS, factors=factors, base=base)
    book = Movements(base)
    for each in events:
        book.add(history(each))
    found = book.totals(
        factors_of=lambda number: factors[min(max(number - number_of(MONTHS[0]), 0), len(factors) - 1)],
        until=number_of(MONTHS[-1]),
    )
    start = Decimal(0)
    for row in expected:
        totals = found.get(number_of(row.month))
        counts = totals.counts if totals else dict.fromkeys(MOVEMENTS, 0)
        assert counts == {name: getattr(row, f"{name}_count") for name in MOVEMENTS}
        end = start + sum(totals.amounts.values()) if totals else start
        assert abs(cut(end) - row.end) <= Decimal("0.5")
        for name in MOVEMENTS if totals else ():
            if name == "currency":  # takes what rounding the others leaves over
                assert abs(totals.amounts[name] - row.currency) <= 4 * smallest_unit(base)
            else:
                assert round_half_up(cut(totals.amounts[name]), base) == getattr(row, name)
        start = end


@given(before=EVENTS, after=EVENTS, others=st.lists(EVENTS, max_size=3))
@settings(max_examples=100)
def test_taking_away_what_was_and_adding_what_is_leaves_what_is(before, after, others):
    factors = {
        month: {"EUR": Decimal(1), "USD": Decimal(1) / (index + 1), "JPY": Decimal("0.006")}
        for index, month in enumerate(MONTHS)
    }

    def totals(book):
        return book.totals(
            factors_of=lambda number: factors.get(month_of(number), factors[MONTHS[-1]]), until=number_of(MONTHS[-1])
        )

    whole, kept, change = Movements("EUR"), Movements("EUR"), Movements("EUR")
    for each in others:
        whole.add(history(events_of(each)))
        kept.add(history(events_of(each)))
    whole.add(history(events_of(after)))
    kept.add(history(events_of(before)))
    change.add(history(events_of(before)), times=-1)
    change.add(history(events_of(after)))
    expected, found, moved = totals(whole), totals(kept), totals(change)
    for number in {*expected, *found, *moved}:
        for name in MOVEMENTS:
            got = sum(table[number].amounts[name] for table in (found, moved) if number in table)
            counted = sum(table[number].counts[name] for table in (found, moved) if number in table)
            want = expected[number].amounts[name] if number in expected else 0
            assert abs(got - want) < Decimal("1e-20")
            assert counted == (expected[number].counts[name] if number in expected else 0)


JANUARY = number_of(date(2024, 1, 1))
DOLLAR = ["0.5", "0.6", "0.4", "0.4"]  # in euro at the ends of January to April; before and after as at the nearest


def contracts(text):
    """Contracts written as in "10 EUR + 5 USD"; none as ""."""
    pairs = [part.split() for part in text.split(" + ") if part]
    return {currency: Decimal(amount) for amount, currency in pairs}


def moved(*customers, base="EUR", until=JANUARY + 3):
    """Month from January on -> what happened in it, as (amount, customers), of contracts at the ends of months."""
    book = Movements(base)
    for months in customers:
        held = [contracts(text) for text in months]
        book.add([(JANUARY + n, now) for n, now in enumerate(held) if now != (held[n - 1] if n else {})])

    def factors_of(number):
        dollar = Decimal(DOLLAR[min(max(number - JANUARY, 0), 3)])
        return {"EUR": Decimal(1), "USD": dollar} if base == "EUR" else {"USD": Decimal(1), "EUR": 1 / dollar}

    return {
        number - JANUARY + 1: {
            name: (totals.amounts[name], totals.counts[name])
            for name in MOVEMENTS
            if totals.amounts[name] or totals.counts[name]
        }
        for number, totals in book.totals(factors_of=factors_of, until=until).items()
    }


@pytest.mark.parametrize(
    ("months", "told"),
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
def test_what_one_customer_did_is_told_month_by_month(months, told):
    months += [months[-1]] * (4 - len(months))
    assert moved(months) == dict(enumerate(told, start=1))
    twice = [{name: (2 * amount, 2 * count) for name, (amount, count) in month.items()} for month in told]
    assert moved(months, months) == dict(enumerate(twice, start=1))


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
def test_a_customer_to_whom_rates_did_half_a_cent_counts(dollars, counts, more):
    found = moved([f"{dollars} USD{more}"] * 2, until=JANUARY + 1)[2]
    assert found == {"currency": (Decimal(dollars) / 10, counts)}


@pytest.mark.parametrize("noise", ["0.0000000000001", "-0.0000000000001"])
def test_what_is_no_more_than_noise_makes_nobody_go_up_or_down(noise):
    dollars = 10 + Decimal(noise)
    found = moved(["6 EUR", f"{dollars} USD"], until=JANUARY + 1)[2]
    assert found == {"currency": (Decimal(noise) * Decimal("0.6"), 0)}


def test_of_contracts_in_the_base_currency_rates_move_none():
    assert moved(["10 USD"] * 4, base="USD") == {1: {"new": (10, 1)}, 2: {}, 3: {}, 4: {}}
    assert moved(["6 EUR"] * 2, base="USD", until=JANUARY + 1) == {
        1: {"new": (12, 1)}, 2: {"currency": (pytest.approx(Decimal(-2)), 1)},
    }  # fmt: skip


def test_months_are_told_from_the_first_change_to_the_last_or_until_rates_rest():
    assert moved() == {}
    assert list(moved(["", "10 EUR"], until=JANUARY - 5)) == [2]
    assert list(moved(["", "10 EUR", ""], until=JANUARY - 5)) == [2, 3]
    assert list(moved(["", "10 EUR"], until=JANUARY + 5)) == [2, 3, 4, 5, 6]


def test_the_calendars_last_month_is_the_last():
    last = number_of(date.max)
    book = Movements("EUR")
    book.add([(last, {"USD": Decimal(10)})])
    assert list(book.totals(factors_of=lambda number: {"EUR": Decimal(1), "USD": Decimal(1)}, until=last + 9)) == [last]


def test_the_same_contracts_are_one_shape_in_whatever_order_they_came():
    assert shape(contracts("10 USD + 5 EUR")) == shape(contracts("5 EUR + 10 USD")) == (("EUR", 5), ("USD", 10))


def test_totals_say_whether_anything_happened():
    nothing, amount, count = Totals(), Totals(), Totals()
    amount.add("new", Decimal(5), 0)
    count.add("new", Decimal(0), 1)
    amount.add("new", Decimal(2), 0)
    count.add("new", Decimal(0), 1)
    assert [bool(each) for each in (nothing, amount, count)] == [False, True, True]
    assert (amount.amounts["new"], count.counts["new"]) == (7, 2)


def test_a_history_has_the_contracts_at_the_ends_of_months_in_which_something_changed():
    events = [
        (date(2024, 1, 5), "a", "EUR", Decimal(10)),
        (date(2024, 1, 5), "b", "EUR", Decimal(5)),
        (date(2024, 1, 31), "c", "USD", Decimal(1)),
        (date(2024, 3, 1), "a", "EUR", Decimal(0)),
        (date(2024, 3, 1), "b", "USD", Decimal(2)),
        (date(2024, 12, 31), "b", "USD", Decimal(0)),
        (date(2024, 12, 31), "c", "USD", Decimal(0)),
    ]
    assert history_of(events) == [
        (JANUARY, contracts("15 EUR + 1 USD")),
        (JANUARY + 2, contracts("3 USD")),
        (JANUARY + 11, {}),
    ]
    assert history_of([]) == []
