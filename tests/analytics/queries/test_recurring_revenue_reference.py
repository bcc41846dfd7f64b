"""Recurring revenue against a second, naive calculation: fractions, one customer at a time, no SQL."""

from collections import Counter
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ledger.calc.months import add_months, format_month, get_last_day_of_month, list_months
from ledger.money.rates import get_rate_table
from tests import factories
from tests.analytics.queries.test_recurring_revenue import build_event, import_events, query_monthly_rows

pytestmark = pytest.mark.django_db

FIRST, LAST = date(2022, 12, 1), date(2024, 12, 1)
MONTHS_A_YEAR = {"month": Fraction(12), "year": Fraction(1), "week": Fraction(52), "day": Fraction(365)}
MOVEMENTS = ("new", "reactivate", "upgrade", "downgrade", "cancel")
CENT = Decimal("0.01")


@dataclass(frozen=True)
class Event:
    """From `day` on the subscription costs `amount` each interval; 0 ends it. `a/2` is a subscription of customer a."""

    subscription: str
    day: date
    amount: str
    currency: str
    interval: str
    interval_count: int

    @property
    def customer(self) -> str:
        return self.subscription.partition("/")[0]

    @property
    def monthly(self) -> Fraction:
        return Fraction(self.amount) * MONTHS_A_YEAR[self.interval] / 12 / self.interval_count

    def to_item(self) -> dict[str, object]:
        terms = {"interval": self.interval, "intervalCount": self.interval_count}
        return build_event(self.subscription, self.amount, str(self.day), self.currency, **terms)


@st.composite
def draw_events(draw, currencies=("EUR", "USD")):
    """Events of up to four customers; each pays in one currency."""
    events = []
    for customer in "abcd"[: draw(st.integers(1, 4))]:
        currency = draw(st.sampled_from(currencies))
        for number in range(draw(st.integers(1, 2))):
            days = draw(st.lists(st.dates(FIRST, get_last_day_of_month(LAST)), min_size=1, max_size=5, unique=True))
            for day in sorted(days):
                amount = draw(st.sampled_from(["0.00", "0.00", "10.00", "33.33", "100.00", "120.01", "300.00"]))
                terms = draw(st.sampled_from([("month", 1), ("month", 3), ("year", 1), ("week", 2), ("day", 30)]))
                events.append(Event(f"{customer}/{number}", day, amount, currency, *terms))
    return events


def round_cents(amount: Fraction) -> Decimal:
    cents = abs(amount) * 100
    rounded = (Decimal(cents.numerator // cents.denominator) + (cents % 1 >= Fraction(1, 2))) * CENT
    return -rounded if amount < 0 else rounded


def round_percent(part: Fraction, whole: Fraction) -> float | None:
    return float(round_cents(part * 100 / whole)) if whole else None


class ReferenceBooks:
    """What customers pay at the end of a month, by customer, in each one's currency and in euros."""

    def __init__(self, events):
        self.events, self.rates = events, get_rate_table()

    def paid(self, month: date) -> dict[str, tuple[Fraction, str]]:
        """Customer -> (monthly amount, its currency), of those who pay at the end of the month."""
        latest = {}
        for event in sorted(self.events, key=lambda event: event.day):
            if event.day <= get_last_day_of_month(month):
                latest[event.subscription] = event
        paid: dict[str, tuple[Fraction, str]] = {}
        for event in latest.values():
            if event.monthly:
                amount, _ = paid.get(event.customer, (Fraction(), ""))
                paid[event.customer] = (amount + event.monthly, event.currency)
        return paid

    def to_euros(self, amount: Fraction, currency: str, month: date) -> Fraction:
        return (
            amount / Fraction(self.rates.get_rate(currency, get_last_day_of_month(month)))
            if currency != "EUR"
            else amount
        )

    def total(self, month: date) -> Fraction:
        return sum((self.to_euros(*paid, month) for paid in self.paid(month).values()), Fraction())

    def movements(self, start: date, end: date) -> Counter:
        """Movement -> its sum in euros, of each customer from the end of one month to the end of another."""
        before, now, sums = self.paid(start), self.paid(end), Counter()
        earlier = {who for month in list_months(FIRST, start) for who in self.paid(month)}
        for customer in before.keys() | now.keys():
            if customer not in before:
                kind = "reactivate" if customer in earlier else "new"
                sums[kind] += self.to_euros(*now[customer], end)
            elif customer not in now:
                sums["cancel"] -= self.to_euros(*before[customer], start)
            else:
                (old, currency), (new, _) = before[customer], now[customer]
                sums["upgrade" if new > old else "downgrade"] += self.to_euros(new - old, currency, end)
        return sums

    def retention(self, last: date) -> dict[str, float | None]:
        """Of the customers who paid twelve months before `last`: what they pay then by what they paid."""
        first = add_months(last, -12)
        before, now = self.paid(first), self.paid(last)
        paid, remaining, left = Fraction(), Fraction(), Fraction()
        for customer, (old, currency) in before.items():
            new, _ = now.get(customer, (Fraction(), currency))
            # At one rate, so that exchange rates neither retain nor lose anything: the rate of the end,
            # for who left that of the start.
            value = self.to_euros(old, currency, first)
            change = self.to_euros(new - old, currency, last) if new else -value
            paid += value
            remaining += value + change
            left += value + min(change, 0)
        return {
            "netRevenueRetention": round_percent(remaining, paid),
            "grossRevenueRetention": round_percent(left, paid),
            "revenueChurnRate": round_percent(paid - left, paid),
            "customerChurnRate": round_percent(Fraction(len(before.keys() - now.keys())), Fraction(len(before))),
        }

    def quick_ratio(self, last: date) -> float | None:
        sums = self.movements(add_months(last, -12), last)
        lost = -sums["downgrade"] - sums["cancel"]
        won = Fraction(sums["new"] + sums["upgrade"] + sums["reactivate"])
        return float(round_cents(won / lost)) if lost else None


@given(events=draw_events(), last=st.integers(12, 24))
@settings(max_examples=10, deadline=None)
def test_retention_and_churn_match_independent_model(db, make_api, events, last):
    api, month = make_api(factories.make_company(name="Any")), add_months(FIRST, last)
    import_events(api, *(event.to_item() for event in events))
    answer = api.post("data/recurringRevenueSummary", {"month": format_month(month)}).json()
    books = ReferenceBooks(events)
    expected = books.retention(month) | {"quickRatio": books.quick_ratio(month)}
    assert {name: answer[name] for name in expected} == expected
    assert answer["mrr"] == float(round_cents(books.total(month)))
    assert answer["customers"] == len(books.paid(month))


@given(events=draw_events())
@settings(max_examples=10, deadline=None)
def test_mrr_movements_match_independent_model_to_the_cent(db, make_api, events):
    """Every movement is its exact sum rounded; what rounding leaves over goes to `currency` alone."""
    api = make_api(factories.make_company(name="Any"))
    import_events(api, *(event.to_item() | {"productExternalId": "product"} for event in events))
    product = api.get("products").json()[0]["id"]
    books, months = ReferenceBooks(events), (format_month(FIRST), format_month(LAST))
    stored, of_product = (
        query_monthly_rows(api, *months),
        query_monthly_rows(api, *months, productIds=[product]),
    )  # these close exactly
    assert stored == of_product
    for month, row in zip(list_months(FIRST, LAST), stored, strict=True):
        sums = books.movements(add_months(month, -1), month)
        assert {name: row[name] for name in MOVEMENTS} == {name: float(round_cents(sums[name])) for name in MOVEMENTS}
        assert row["end"] == float(round_cents(books.total(month)))


def test_net_revenue_retention_excludes_customers_absent_at_start(api, query_data):
    """One customer pays 100 all year; another, who left before the year, comes back in it with 100."""
    import_events(
        api,
        build_event("a", "100.00", "2022-01-01"),
        build_event("b", "100.00", "2022-01-01"), build_event("b", "0.00", "2023-06-01"),
        build_event("b", "100.00", "2024-05-01"),
    )  # fmt: skip
    summary = query_data("recurringRevenueSummary", month="2024-12")
    assert summary["netRevenueRetention"] == summary["grossRevenueRetention"] == 100
    assert (summary["mrr"], summary["revenueChurnRate"], summary["customerChurnRate"]) == (200, 0, 0)


@pytest.mark.parametrize(("returns_with", "net", "gross"), [("150.00", 150, 100), ("40.00", 40, 40)])
def test_retention_counts_returning_customers_at_year_end(api, query_data, returns_with, net, gross):
    import_events(
        api,
        build_event("a", "100.00", "2023-01-01"), build_event("a", "0.00", "2024-03-01"),
        build_event("a", returns_with, "2024-10-01"),
    )  # fmt: skip
    summary = query_data("recurringRevenueSummary", month="2024-12")
    assert (summary["netRevenueRetention"], summary["grossRevenueRetention"]) == (net, gross)
    assert summary["customerChurnRate"] == 0


def test_retention_is_computed_before_rounding_to_cents(api, query_data):
    """From 100 to 120 a year is 120 %; of the rounded months, 8.33 and 1.67 more, it would be 120.05 %."""
    import_events(
        api, build_event("a", "100.00", "2023-01-01", interval="year"),
        build_event("a", "120.00", "2024-03-01", interval="year")
    )  # fmt: skip
    assert query_data("recurringRevenueSummary", month="2024-12")["netRevenueRetention"] == 120


def test_movements_of_base_currency_customers_are_exact(api):
    """Cents that rounding leaves over never change a contraction of customers who pay in euros."""
    dollars = [build_event(f"usd/{number}", "9.99", "2024-01-01", currency="USD") for number in range(3)]
    euros = [build_event(f"eur/{number}", "400.00", "2024-01-01") for number in range(2)]
    import_events(api, *dollars, *euros, *(build_event("eur/0", "100.00", f"2024-{month:02}-10") for month in (2,)))
    for month, contraction in (("2024-02", -300), ("2024-03", 0)):
        (row,) = query_monthly_rows(api, month, month)
        assert row["downgrade"] == contraction
        assert row["new"] == row["upgrade"] == row["cancel"] == row["reactivate"] == 0
