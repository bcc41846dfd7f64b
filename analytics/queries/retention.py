"""What a span of months did to recurring revenue, each customer counted once, and the rates that follow from it.

A customer is looked at where the span starts and where it ends, and nowhere between: who was there at both and pays
more is one upgrade, however many steps led there. The database says what each held at the two ends and counts alike
those who held the same: price lists are short.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from functools import lru_cache
from typing import Any, NamedTuple
from uuid import UUID

from django.db import connection

from analytics.calc.movements import History, number_of
from analytics.calc.mrr import Contracts, MonthlyRow, Tally, classify, close_row, value
from analytics.queries.recurring import CMRR, MRR, factors
from analytics.queries.results import percentage
from companies.models import Company
from ledger.calc.fx import RateTable
from ledger.calc.money import WIDE, round_half_up
from ledger.calc.months import MONTHS_A_YEAR, last_of_month
from ledger.subscriptions.calc import cut, monthly_value

ZERO = Decimal(0)
DATES = {MRR: "effective_date", CMRR: "committed_date"}
_NOTHING: Contracts = {}


class Stay(NamedTuple):
    """Customers' contracts before a span and at its end, and whether there were any at an earlier month's end.

    ``times`` is how many customers held these.
    """

    before: Contracts
    now: Contracts
    seen: bool
    times: int = 1


@dataclass(frozen=True, slots=True)
class Span:
    """Several months as one: the row that closes, in cents, and the same amounts before rounding, for rates.

    ``exact`` has ``start`` and each of MOVEMENTS.
    """

    row: MonthlyRow
    exact: Mapping[str, Decimal]


def measure_span(
    *,
    company: Company,
    first: date,
    last: date,
    rates: RateTable,
    basis: str = MRR,
    products: Sequence[UUID] = (),
) -> Span:
    """Compare each customer at the end of ``last`` with the end of the month before ``first``; both are first days.

    Of all products where none is given. One statement. Raises MissingRate.
    """
    stays = list(stays_of(company, first=first, last=last, basis=basis, products=products))
    currencies = {company.base_currency, *(currency for stay in stays for currency in (*stay.before, *stay.now))}
    factors_of = factors(rates, base=company.base_currency, currencies=currencies)
    then = factors_of(number_of(first) - 1) if any(stay.before for stay in stays) else {}  # of a month that there is
    now = factors_of(number_of(last))
    tally, start, start_count = Tally(company.base_currency), ZERO, 0
    for stay in stays:
        reported = value(stay.before, then)
        change = classify(before=stay.before, now=stay.now, reported=reported, factors=now, seen=stay.seen)
        tally.add(change, times=stay.times)
        start, start_count = WIDE.fma(reported, stay.times, start), start_count + bool(stay.before) * stay.times
    end = start
    for amount in tally.amounts.values():
        end = WIDE.add(end, amount)
    row = close_row(
        month=last,
        base=company.base_currency,
        start=start,
        start_count=start_count,
        end=end,
        amounts=tally.amounts,
        counts=tally.counts,
    )
    return Span(row, {"start": start, **tally.amounts})


# An event stands at the end of a month if its subscription has none after it up to then.
_STAYS = """
    WITH dated AS (
        SELECT s.customer_id, e.{date} AS date, lead(e.{date}) OVER later AS next, e.amount_value > 0 AS pays,
               concat_ws(' ', e.amount_currency, e.amount_value, e.interval, e.interval_count) AS price
          FROM ledger_subscriptionevent AS e
          JOIN ledger_subscription AS s ON s.company_id = e.company_id AND s.id = e.subscription_id
         WHERE e.company_id = %(company)s AND e.retracted_time IS NULL AND e.{date} <= %(end)s {which}
        WINDOW later AS (PARTITION BY e.subscription_id ORDER BY e.{date}, e.id)
    ), ends AS (
        SELECT array_agg(price) FILTER (WHERE date < %(start)s AND (next IS NULL OR next >= %(start)s)) AS before,
               array_agg(price) FILTER (WHERE next IS NULL) AS now,
               bool_or(date < %(start)s AND (
                   next IS NULL OR date_trunc('month', next::timestamp) > date_trunc('month', date::timestamp)
               )) AS seen
          FROM dated WHERE pays GROUP BY customer_id
    )
    SELECT before, now, seen, count(*) FROM ends WHERE before IS NOT NULL OR now IS NOT NULL GROUP BY before, now, seen
"""


def stays_of(company: Company, *, first: date, last: date, basis: str, products: Sequence[UUID]) -> Iterator[Stay]:
    """Of everyone who was there before the span or is at its end."""
    which = "AND s.product_id = ANY(%(products)s)" if products else ""
    asked: dict[str, Any] = {
        "company": company.id,
        "start": first,
        "end": last_of_month(last),
        "products": list(products),
    }
    with connection.cursor() as cursor:
        cursor.execute(_STAYS.format(date=DATES[basis], which=which), asked)
        found = cursor.fetchall()
    for before, now, seen, times in found:
        yield Stay(contracts_of(before or ()), contracts_of(now or ()), seen, times)


def contracts_of(prices: Sequence[str]) -> Contracts:
    """What they are worth a month, by currency."""
    held: dict[str, Decimal] = {}
    for price in prices:
        currency, monthly = by_month(price)
        held[currency] = WIDE.add(held.get(currency, ZERO), monthly)
    return held


@lru_cache(maxsize=1 << 14)
def by_month(price: str) -> tuple[str, Decimal]:
    """What a price of the database's says, and what it is worth a month. Remembered: price lists are short."""
    currency, amount, interval, count = price.split(" ")
    return currency, monthly_value(Decimal(amount), interval, int(count))


def at(history: History, number: int) -> Contracts:
    """The contracts at the end of a month."""
    return next((contracts for changed, contracts in reversed(history) if changed <= number), _NOTHING)


@dataclass(frozen=True, slots=True)
class Summary:
    """Recurring revenue at the end of a month, and retention and churn over the twelve months up to it.

    Rates are percentages, rounded half up to two decimals, None where nobody paid at the start. Retention and churn
    are of the customers who paid at the start; ``quick_ratio`` is new, reactivated and upgraded revenue by what was
    lost, None where nothing was lost; ``arpa`` is None without customers.
    """

    mrr: Decimal
    arr: Decimal
    customers: int
    arpa: Decimal | None
    net_revenue_retention: Decimal | None
    gross_revenue_retention: Decimal | None
    customer_churn_rate: Decimal | None
    revenue_churn_rate: Decimal | None
    quick_ratio: Decimal | None


def summarize_span(span: Span, *, base: str) -> Summary:
    """Compute retention and churn from the amounts before rounding.

    New and reactivated customers did not pay at the start: they count in the quick ratio only.
    """
    row, exact = span.row, span.exact
    start, upgraded = exact["start"], exact["upgrade"]
    lost = -WIDE.add(exact["downgrade"], exact["cancel"])
    won = exact["new"] + exact["reactivate"] + upgraded
    return Summary(
        mrr=row.end,
        arr=row.end * MONTHS_A_YEAR,
        customers=row.end_count,
        arpa=round_half_up(WIDE.divide(row.end, Decimal(row.end_count)), base) if row.end_count else None,
        net_revenue_retention=compute_rate(start + upgraded - lost, start),
        gross_revenue_retention=compute_rate(start - lost, start),
        customer_churn_rate=compute_rate(Decimal(row.cancel_count), Decimal(row.start_count)),
        revenue_churn_rate=compute_rate(lost, start),
        quick_ratio=compute_rate(won / 100, lost),
    )


def compute_rate(part: Decimal, whole: Decimal) -> Decimal | None:
    """Return ``part`` as a percentage of ``whole``, rounded half up to two decimals; None where ``whole`` is nothing.

    >>> compute_rate(Decimal(120) / 12, Decimal(100) / 12)
    Decimal('120.00')
    """
    return percentage(cut(WIDE.divide(part, whole)), Decimal(1)) if cut(whole) else None
