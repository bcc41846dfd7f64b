"""A slow reference implementation of monthly recurring revenue, one customer and one month at a time."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal

from analytics.calc.mrr import (
    ZERO,
    Contracts,
    Factors,
    MonthlyRow,
    MovementTotals,
    classify_customer_month,
    round_monthly_row,
)
from ledger.calc.months import get_last_day_of_month
from ledger.money.calc.fx import RateTable
from ledger.money.calc.money import MONEY_CONTEXT

_NO_CONTRACTS: Contracts = {}


@dataclass(frozen=True, slots=True)
class Event:
    """From ``day`` on, the subscription is worth ``monthly`` of ``currency`` a month; 0 ends it.

    ``day`` is the effective date for MRR and the committed date for cMRR.
    """

    subscription: str
    day: date
    monthly: Decimal
    currency: str


def snapshots(events: Iterable[Event], *, months: Sequence[date]) -> list[Contracts]:
    """One customer's contracts at the end of each of the months (in order), counting all events up to that day.

    Of two events of one subscription on one day the later in ``events`` counts. Months without a change share one
    mapping.

    >>> event = Event("s", date(2024, 1, 31), Decimal(10), "EUR")
    >>> snapshots([event], months=[date(2023, 12, 1), date(2024, 1, 1)])
    [{}, {'EUR': Decimal('10')}]
    """
    waiting = sorted(events, key=lambda event: event.day)
    live: dict[str, Event] = {}
    results = []
    contracts = _NO_CONTRACTS
    position = 0
    for month in months:
        month_end = get_last_day_of_month(month)
        before = position
        while position < len(waiting) and waiting[position].day <= month_end:
            live[waiting[position].subscription] = waiting[position]
            position += 1
        if position != before:
            contracts = _sum_by_currency(live.values())
        results.append(contracts)
    return results


def _sum_by_currency(events: Iterable[Event]) -> Contracts:
    contracts: dict[str, Decimal] = {}
    for event in events:
        if event.monthly:
            contracts[event.currency] = MONEY_CONTEXT.add(contracts.get(event.currency, ZERO), event.monthly)
    return contracts


def build_month_end_factors(
    rates: RateTable, *, months: Sequence[date], base: str, currencies: Iterable[str]
) -> list[Factors]:
    """The factors into the base currency at the end of each month; the latest known where a month is not over.

    Raises MissingRate.
    """
    wanted = {base, *currencies}
    return [
        {currency: rates.get_cross_rate(currency, base, get_last_day_of_month(month)) for currency in wanted}
        for month in months
    ]


def compute_monthly_rows(
    customers: Iterable[Sequence[Contracts]], *, months: Sequence[date], factors: Sequence[Factors], base: str
) -> list[MonthlyRow]:
    """The rows of the months, in order; each starts where the one before ends, the first at nothing.

    ``customers`` gives each customer's contracts at the end of every month, ``factors`` those months' factors. The
    months must begin with the first one anybody was active in, or "first time ever" and the first start are wrong: take
    the months of interest from the end of the list. Raises MissingRate, UnknownCurrency.
    """
    tallies = [MovementTotals() for _ in months]
    for history in customers:
        _classify_history(history, tallies=tallies, factors=factors, base=base)
    rows = []
    total, count = ZERO, 0
    for month, tally in zip(months, tallies, strict=True):
        end = total
        for amount in tally.amounts.values():
            end = MONEY_CONTEXT.add(end, amount)
        row = round_monthly_row(
            month=month,
            base=base,
            start=total,
            start_count=count,
            end=end,
            amounts=tally.amounts,
            counts=tally.counts,
        )
        rows.append(row)
        total, count = end, row.end_count
    return rows


def _classify_history(
    history: Sequence[Contracts], *, tallies: Sequence[MovementTotals], factors: Sequence[Factors], base: str
) -> None:
    """Classify one customer's months into the tallies."""
    before, reported, seen = _NO_CONTRACTS, ZERO, False
    for now, tally, month_factors in zip(history, tallies, factors, strict=True):
        # The same contracts in the base currency alone cannot have moved: the common case costs a comparison.
        if now == before and (not now or (len(now) == 1 and base in now)):
            continue
        change = classify_customer_month(
            previous=before, current=now, reported=reported, factors=month_factors, was_active_before=seen
        )
        tally.add_change(change, base=base)
        before, reported = now, change.value
        seen = seen or any(now.values())
