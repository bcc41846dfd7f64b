"""What a span of months did to recurring revenue, each customer counted once, and the rates that follow from it.

A customer is looked at where the span starts and where it ends, and nowhere between: who was there at both and pays
more is one upgrade, however many steps led there.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from decimal import Decimal

from analytics.calc.movements import History, month_of, number_of
from analytics.calc.mrr import Contracts, MonthlyRow, Tally, classify, close_row, value
from analytics.recurring import MRR, Chosen, factors, histories
from analytics.results import percentage
from companies.models import Company
from ledger.calc.fx import RateTable
from ledger.calc.money import WIDE, round_half_up
from ledger.calc.months import MONTHS_A_YEAR

ZERO = Decimal(0)
_NOTHING: Contracts = {}


@dataclass(frozen=True, slots=True)
class Stay:
    """A customer's contracts before a span and at its end, and whether there were any at an earlier month's end."""

    before: Contracts
    now: Contracts
    seen: bool


Customers = Iterable[Mapping[str, History]]
"""Basis -> history of each, as ``recurring.histories`` has them."""


def bridge(
    *,
    company: Company,
    first: date,
    last: date,
    rates: RateTable,
    basis: str = MRR,
    customers: Customers | None = None,
) -> MonthlyRow:
    """The months from ``first`` to ``last`` as one row that closes, of all customers where none are given.

    Raises MissingRate.
    """
    if customers is None:
        customers = histories(company.id, Chosen(), room=False)
    start_number, end_number = number_of(first) - 1, number_of(last)
    stays = list(stays_of(customers, start=start_number, end=end_number, basis=basis))
    currencies = {company.base_currency, *(currency for stay in stays for currency in (*stay.before, *stay.now))}
    factors_of = factors(rates, base=company.base_currency, currencies=currencies)
    then = factors_of(start_number) if any(stay.before for stay in stays) else {}  # there may be no month before
    now = factors_of(end_number)
    tally, start, start_count = Tally(company.base_currency), ZERO, 0
    for stay in stays:
        reported = value(stay.before, then)
        tally.add(classify(before=stay.before, now=stay.now, reported=reported, factors=now, seen=stay.seen))
        start, start_count = WIDE.add(start, reported), start_count + bool(stay.before)
    end = start
    for amount in tally.amounts.values():
        end = WIDE.add(end, amount)
    return close_row(
        month=month_of(end_number),
        base=company.base_currency,
        start=start,
        start_count=start_count,
        end=end,
        amounts=tally.amounts,
        counts=tally.counts,
    )


def stays_of(customers: Customers, *, start: int, end: int, basis: str) -> Iterator[Stay]:
    """Of everyone who was there before the span or is at its end."""
    for history in customers:
        before, now = at(history[basis], start), at(history[basis], end)
        if before or now:
            seen = any(contracts for number, contracts in history[basis] if number <= start)
            yield Stay(before=before, now=now, seen=seen)


def at(history: History, number: int) -> Contracts:
    """The contracts at the end of a month."""
    return next((contracts for changed, contracts in reversed(history) if changed <= number), _NOTHING)


@dataclass(frozen=True, slots=True)
class Summary:
    """Recurring revenue at the end of a month and what became of it in the twelve months up to it.

    Rates are in hundredths, half-up to two decimals, None where there was nothing to lose; ``quick_ratio`` is what was
    won by what was lost, None where nothing was lost; ``arpa`` is None without customers.
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


def summary(
    *, company: Company, first: date, last: date, rates: RateTable, customers: Customers | None = None
) -> Summary:
    """Of the months from ``first`` to ``last``. Raises MissingRate."""
    row = bridge(company=company, first=first, last=last, rates=rates, customers=customers)
    lost, won = -(row.downgrade + row.cancel), row.new + row.reactivate + row.upgrade
    return Summary(
        mrr=row.end,
        arr=row.end * MONTHS_A_YEAR,
        customers=row.end_count,
        arpa=round_half_up(WIDE.divide(row.end, Decimal(row.end_count)), company.base_currency)
        if row.end_count
        else None,
        net_revenue_retention=share(row.start + row.upgrade + row.reactivate - lost, row.start),
        gross_revenue_retention=share(row.start - lost, row.start),
        customer_churn_rate=share(Decimal(row.cancel_count), Decimal(row.start_count)),
        revenue_churn_rate=share(lost, row.start),
        quick_ratio=percentage(won / 100, lost) if lost else None,
    )


def share(part: Decimal, whole: Decimal) -> Decimal | None:
    return percentage(part, whole) if whole else None
