"""Movements of many customers at once are those of each, one after the other."""

from datetime import date, timedelta
from decimal import Decimal

from hypothesis import given, settings
from hypothesis import strategies as st

from analytics.calc.movements import Movements, history_of, month_of, number_of
from analytics.calc.mrr import MOVEMENTS, Event, month_end_factors, monthly_rows, snapshots
from ledger.calc.fx import RateTable
from ledger.calc.months import last_of_month, months_from
from ledger.calc.subscriptions import cut, monthly_value

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
@settings(max_examples=300, deadline=None)
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
            # The rows are rounded and carry the remainder of that; the totals are neither.
            assert abs(totals.amounts[name] - getattr(row, name)) <= (4 if base == "JPY" else Decimal("0.04"))
        start = end


@given(before=EVENTS, after=EVENTS, others=st.lists(EVENTS, max_size=3))
@settings(max_examples=100, deadline=None)
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
