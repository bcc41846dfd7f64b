"""Recurring revenue by month: stored for each company, and computed on demand for some products.

The months of a company depend on its events, base currency and rates, not on the day of reading. After
changes of a few customers' events the stored months are updated by the difference of these customers'
histories. After more changes, new rates or another base currency they are stale, and the next reader
computes them anew.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from functools import cache
from itertools import groupby
from operator import itemgetter
from typing import Any, TypeVar
from uuid import UUID, uuid4

from django.db import connection, transaction
from django.db.models import Q, QuerySet, TextField
from django.db.models.functions import Cast

from analytics.calc.mrr import (
    MOVEMENTS,
    Factors,
    History,
    MonthlyRow,
    MovementTotals,
    MrrAggregator,
    build_history,
    from_month_number,
    to_annual_row,
    to_month_number,
)
from analytics.queries import monthly_rows
from analytics.queries.company_metrics import store_company_metrics
from analytics.queries.stored_months import ByBasis, add_to_stored_months, list_differing_months, replace_stored_months
from companies.errors import build_unknown_id_error
from companies.models import AuditContext, Company, IdIn
from ledger.calc.months import get_last_day_of_month
from ledger.models import Product, RecurringRevenueMonth, RecurringRevenueState, SubscriptionEvent
from ledger.money.calc.fx import RateLookupError, RateTable
from ledger.money.rates import allow_late_rate_conversions, get_rate_table, get_rates_version
from ledger.subscriptions.actions.subscription_events import SubscriptionEventChanges
from ledger.subscriptions.calc.monthly_value import compute_monthly_value
from ledger.subscriptions.queries.committed_revenue import SORT_MEMORY_SQL

MRR, CMRR = RecurringRevenueMonth.BASES
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class EventSelection:
    """Which events to add up; all that count by default."""

    customers: Sequence[UUID] | None = None
    products: Sequence[UUID] | None = None
    excluded: Sequence[UUID] = ()  # events treated as absent
    with_retracted: Sequence[UUID] = ()  # events treated as not retracted
    times: int = 1


# ---------------------------------------------------------------------------------------------- answers


def compute_monthly_data(
    *, company: Company, mrr_type: str, first: date, last: date, product_ids: Sequence[UUID] = ()
) -> list[MonthlyRow]:
    """Return a row for each month from `first` to `last`, in the base currency.

    Raises:
        MissingRate: a currency has no exchange rate.
        ValidationFailed: a product is unknown.
    """
    basis, is_annual = monthly_rows.TYPES[mrr_type]
    if product_ids:
        check_product_ids(company, product_ids)
        totals = aggregate_movements(company, [EventSelection(products=product_ids)], bases=(basis,))[basis]
        months = {from_month_number(number): each for number, each in totals.items() if each}
    else:
        months = (
            read_after_refresh(
                company, lambda: monthly_rows.find_stored_months(company=company, basis=basis, first=first, last=last)
            )
            or {}
        )
    rows = monthly_rows.build_monthly_rows(months, first=first, last=last, base=company.base_currency)
    return [to_annual_row(row) for row in rows] if is_annual else rows


def list_recurring_rows(company: Company, first: date, last: date) -> list[tuple[str, MonthlyRow]]:
    """Return (`mrr` or `cmrr`, row) for the months from `first` to `last`. Raises RateLookupError."""
    return [
        (basis, row)
        for basis in RecurringRevenueMonth.BASES
        for row in compute_monthly_data(company=company, mrr_type=basis, first=first, last=last)
    ]


def read_after_refresh(company: Company, read: Callable[[], T | None]) -> T | None:
    """Return what `read` returns, after computing stale months anew.

    Raises:
        MissingRate: a currency has no exchange rate.
    """
    result = read()
    if result is None:
        refresh_recurring_revenue(company)
        result = read()
    return result


def check_product_ids(company: Company, product_ids: Sequence[UUID]) -> None:
    known_ids = set(Product.objects.for_company(company.id).filter(id__in=product_ids).values_list("id", flat=True))
    for index, product_id in enumerate(product_ids):
        if product_id not in known_ids:
            raise build_unknown_id_error(f"#/productIds/{index}")


def compute_customer_months(*, company: Company, customer_id: UUID, first: date, last: date) -> list[MonthlyRow]:
    """Return the rows as if the company had only this customer.

    Raises:
        MissingRate: a currency has no exchange rate.
    """
    totals = aggregate_movements(company, [EventSelection(customers=[customer_id])], bases=(MRR,))[MRR]
    months = {from_month_number(number): each for number, each in totals.items() if each}
    return monthly_rows.build_monthly_rows(months, first=first, last=last, base=company.base_currency)


# ---------------------------------------------------------------------------------------------- aggregation


def aggregate_movements(
    company: Company, selections: Iterable[EventSelection], *, bases: Iterable[str] = RecurringRevenueMonth.BASES
) -> ByBasis:
    """Sum the movements of the selected events by basis, not rounded.

    Raises:
        MissingRate: a currency has no exchange rate.
    """
    books_by_basis = {basis: MrrAggregator(company.base_currency) for basis in bases}
    shared_book = MrrAggregator(company.base_currency)  # customers whose events are all effective when committed
    for selection in selections:
        for history in iter_histories(company.id, selection):
            if history[MRR] is history[CMRR]:
                shared_book.add_history(history[MRR], times=selection.times)
                continue
            for basis, book in books_by_basis.items():
                book.add_history(history[basis], times=selection.times)
    rates = get_rate_table()
    currencies = shared_book.currencies.union(*(book.currencies for book in books_by_basis.values()))
    get_month_factors = build_month_end_factors_lookup(rates, base=company.base_currency, currencies=currencies)
    until = find_last_rate_month(rates, currencies)
    shared_totals = shared_book.compute_totals(get_factors=get_month_factors, until=until)
    return {
        basis: merge_totals(shared_totals, book.compute_totals(get_factors=get_month_factors, until=until))
        for basis, book in books_by_basis.items()
    }


def merge_totals(
    first_totals: dict[int, MovementTotals], second_totals: dict[int, MovementTotals]
) -> dict[int, MovementTotals]:
    """Merge the movements of two sets of customers, in order of months."""
    merged = {number: MovementTotals() for number in sorted({*first_totals, *second_totals})}
    for table in (first_totals, second_totals):
        for number, totals in table.items():
            for name in MOVEMENTS:
                merged[number].add(name, totals.amounts[name], totals.counts[name])
    return merged


def build_month_end_factors_lookup(
    rates: RateTable, *, base: str, currencies: Iterable[str]
) -> Callable[[int], Factors]:
    """Return a function that returns the factors into the base currency at the end of a month, by its number."""
    sorted_currencies = sorted(currencies)

    @cache
    def get_factors(number: int) -> Factors:
        day = get_last_day_of_month(from_month_number(number))
        return {currency: rates.get_cross_rate(currency, base, day) for currency in sorted_currencies}

    return get_factors


def find_last_rate_month(rates: RateTable, currencies: Iterable[str]) -> int:
    """Return the number of the last month whose rates differ from those of the month before."""
    days = [rates.get_rate_date(currency, date.max) for currency in currencies if currency != "EUR"]
    return to_month_number(max(days)) if days else 0


def select_events(company_id: UUID, selection: EventSelection) -> QuerySet[SubscriptionEvent, tuple[Any, ...]]:
    """Select the columns of events by customer, in order of creation."""
    events = SubscriptionEvent.objects.for_company(company_id).filter(
        Q(retracted_time=None) | IdIn("id", list(selection.with_retracted))
    )
    if selection.excluded:
        events = events.exclude(IdIn("id", list(selection.excluded)))
    if selection.customers is not None:
        events = events.filter(IdIn("subscription__customer_id", list(selection.customers)))
    if selection.products is not None:
        events = events.filter(IdIn("subscription__product_id", list(selection.products)))
    return events.order_by("subscription__customer_id", "id").values_list(
        Cast("subscription__customer_id", TextField()),
        Cast("subscription_id", TextField()),
        *("effective_date", "committed_date", "amount_value", "amount_currency", "interval", "interval_count"),
    )


def iter_histories(
    company_id: UUID, selection: EventSelection, *, more_memory: bool = True
) -> Iterator[dict[str, History]]:
    """Yield each customer's history by basis.

    Args:
        more_memory: sort all events of a large company in memory.
    """
    for _, history in iter_customer_histories(company_id, selection, more_memory=more_memory):
        yield history


def iter_customer_histories(
    company_id: UUID, selection: EventSelection, *, more_memory: bool = True
) -> Iterator[tuple[UUID, dict[str, History]]]:
    """Yield (customer id, history by basis)."""
    with transaction.atomic() if more_memory else nullcontext(), connection.cursor() as cursor:
        if more_memory:
            cursor.execute(SORT_MEMORY_SQL)
        event_rows = list(select_events(company_id, selection))
    for customer_id, rows in groupby(event_rows, key=itemgetter(0)):
        yield UUID(customer_id), build_histories(list(rows))


def build_histories(rows: list[tuple[Any, ...]]) -> dict[str, History]:
    """Build one customer's history by effective and by committed date; one object if the dates never differ."""
    effective_history = build_history(iter_dated_events(rows, 2))
    is_same_date = all(row[2] == row[3] for row in rows)
    return {
        MRR: effective_history,
        CMRR: effective_history if is_same_date else build_history(iter_dated_events(rows, 3)),
    }


def iter_dated_events(rows: list[tuple[Any, ...]], date_column: int) -> Iterator[tuple[date, str, str, Decimal]]:
    """Yield (day, subscription, currency, monthly value) by day, within a day in order of creation."""
    for row in sorted(rows, key=itemgetter(date_column)):
        yield row[date_column], row[1], row[5], compute_monthly_value(row[4], row[6], row[7])


# ---------------------------------------------------------------------------------------------- stored months


@transaction.atomic
def refresh_recurring_revenue(company: Company, *, is_forced: bool = False) -> None:
    """Compute the company's months anew if they are stale, or if forced.

    Raises:
        MissingRate: a currency has no exchange rate.
    """
    state = lock_recurring_revenue(company)
    version = get_rates_version()
    if is_recurring_revenue_fresh(state, company, version) and not is_forced:
        return
    computed_months = aggregate_movements(company, [EventSelection()])
    with allow_late_rate_conversions():
        replace_stored_months(company, computed_months)
    state.base_currency, state.rates_version, state.stale = company.base_currency, version, False
    state.events_version = uuid4()  # what is cached is computed anew as well
    state.save(update_fields=["base_currency", "rates_version", "stale", "events_version"])


def update_recurring_revenue(*, company: Company, context: AuditContext, changed: SubscriptionEventChanges) -> None:
    """Update stored months after events were stored or retracted, and the company's metrics."""
    state = lock_recurring_revenue(company)
    state.events_version = uuid4()
    state.save(update_fields=["events_version"])
    if changed.customers is None or not is_recurring_revenue_fresh(state, company, get_rates_version()):
        mark_recurring_revenue_stale(company)
    else:
        customers = list(changed.customers)
        selection_before = EventSelection(
            customers=customers, excluded=changed.added, with_retracted=changed.retracted, times=-1
        )
        try:
            add_to_stored_months(
                company, aggregate_movements(company, [selection_before, EventSelection(customers=customers)])
            )
        except RateLookupError:  # the event is stored; readers of its months get the error
            mark_recurring_revenue_stale(company)
    store_company_metrics(company=company, context=context)


def lock_recurring_revenue(company: Company) -> RecurringRevenueState:
    """Return the company's state, locked: readers that compute it and writers of events wait for each other."""
    new_state = RecurringRevenueState(
        company_id=company.id, base_currency=company.base_currency, rates_version=0, stale=True
    )
    RecurringRevenueState.objects.bulk_create([new_state], ignore_conflicts=True)
    return RecurringRevenueState.objects.select_for_update().get(company_id=company.id)


def mark_recurring_revenue_stale(company: Company) -> None:
    """Mark the stored months as stale, so that the next reader computes them anew."""
    RecurringRevenueState.objects.filter(company_id=company.id).update(stale=True)


def is_recurring_revenue_fresh(state: RecurringRevenueState, company: Company, version: int) -> bool:
    return not state.stale and state.base_currency == company.base_currency and state.rates_version == version


def rebuild_recurring_revenue(company_id: UUID) -> None:
    """Compute a company's months anew, stale or not.

    Raises:
        MissingRate: a currency has no exchange rate.
    """
    refresh_recurring_revenue(Company.objects.get(id=company_id), is_forced=True)


def find_recurring_revenue_differences(company_id: UUID) -> list[str]:
    """Return where stored months differ from the events; empty if all agree or if they are stale.

    Raises:
        MissingRate: a currency has no exchange rate.
    """
    company = Company.objects.get(id=company_id)
    state = RecurringRevenueState.objects.filter(company_id=company_id).first()
    if state is None or not is_recurring_revenue_fresh(state, company, get_rates_version()):
        return []
    computed_months = aggregate_movements(company, [EventSelection()])
    return [
        f"ledger_recurringmonth: {basis} {from_month_number(number):%Y-%m}"
        for basis, number, _ in list_differing_months(company, computed_months)
    ]
