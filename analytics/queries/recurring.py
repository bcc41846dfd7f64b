"""Recurring revenue month by month: kept added up for each company, and added up on the fly for some products.

The months of a company depend on its events, its base currency and the rates, not on the day they are read: a month
that is not over is valued at the latest rates, and a later event is in its own month already. They are kept in step
with a few customers' events by what those customers' histories add now and added before; more events than that, other
rates or another base currency make the book stale, and whoever reads next adds everything up again.
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
from uuid import UUID

from django.db import connection, transaction

from analytics.calc.movements import History, Movements, Totals, history_of, month_of, number_of
from analytics.calc.mrr import MOVEMENTS, Factors, MonthlyRow, annual
from analytics.queries import monthly_rows
from analytics.queries.metrics import store_metrics
from analytics.queries.monthly_rows import COLUMNS
from companies.errors import unknown_id
from companies.models import Company, Stamp
from ledger.calc.fx import MissingRate, RateTable
from ledger.calc.money import WIDE
from ledger.calc.months import last_of_month
from ledger.models import Product, RecurringBook, RecurringMonth
from ledger.money.rates import rate_table, rates_version
from ledger.subscriptions.calc import cut, monthly_value
from ledger.subscriptions.committed import ROOM
from ledger.subscriptions.subscribing import EventsChanged

MRR, CMRR = RecurringMonth.BASES
T = TypeVar("T")

ByBasis = dict[str, dict[int, Totals]]
"""Basis -> number of the month -> its movements."""


@dataclass(frozen=True, slots=True)
class Chosen:
    """Whose events to add up, and which of them; everything that counts where nothing is said."""

    customers: Sequence[UUID] | None = None
    products: Sequence[UUID] | None = None
    without: Sequence[UUID] = ()  # events as if they had not come
    with_retracted: Sequence[UUID] = ()  # events as if they had not been retracted
    times: int = 1


# ---------------------------------------------------------------------------------------------- answering


def monthly_data(
    *, company: Company, mrr_type: str, first: date, last: date, product_ids: Sequence[UUID] = ()
) -> list[MonthlyRow]:
    """A row a month from ``first`` to ``last``, in the company's base currency.

    Raises MissingRate, and FieldErrors with unknown_id for a product that the company does not have.
    """
    basis, yearly = monthly_rows.TYPES[mrr_type]
    if product_ids:
        check_products(company, product_ids)
        totals = added_up(company, [Chosen(products=product_ids)], bases=(basis,))[basis]
        months = {month_of(number): each for number, each in totals.items() if each}
    else:
        months = (
            holding(company, lambda: monthly_rows.stored(company=company, basis=basis, first=first, last=last)) or {}
        )
    rows = monthly_rows.closed(months, first=first, last=last, base=company.base_currency)
    return [annual(row) for row in rows] if yearly else rows


def holding(company: Company, read: Callable[[], T | None]) -> T | None:
    """What is read, after adding up anew where it does not hold. Raises MissingRate."""
    found = read()
    if found is None:
        refresh(company)
        found = read()
    return found


def check_products(company: Company, product_ids: Sequence[UUID]) -> None:
    known = set(Product.objects.of(company.id).filter(id__in=product_ids).values_list("id", flat=True))
    for index, product_id in enumerate(product_ids):
        if product_id not in known:
            raise unknown_id(f"#/productIds/{index}")


def of_one_customer(*, company: Company, customer_id: UUID, first: date, last: date) -> list[MonthlyRow]:
    """The rows as if the company had only this customer. Raises MissingRate."""
    totals = added_up(company, [Chosen(customers=[customer_id])], bases=(MRR,))[MRR]
    months = {month_of(number): each for number, each in totals.items() if each}
    return monthly_rows.closed(months, first=first, last=last, base=company.base_currency)


# ---------------------------------------------------------------------------------------------- adding up


def added_up(company: Company, chosen: Iterable[Chosen], *, bases: Iterable[str] = RecurringMonth.BASES) -> ByBasis:
    """The movements of the chosen events by basis, not rounded. Raises MissingRate."""
    own = {basis: Movements(company.base_currency) for basis in bases}
    shared = Movements(company.base_currency)  # of customers whose events all take effect when they are committed
    for each in chosen:
        for history in histories(company.id, each):
            if history[MRR] is history[CMRR]:
                shared.add(history[MRR], times=each.times)
                continue
            for basis, book in own.items():
                book.add(history[basis], times=each.times)
    rates = rate_table()
    currencies = shared.currencies.union(*(book.currencies for book in own.values()))
    factors_of = factors(rates, base=company.base_currency, currencies=currencies)
    until = last_rate_month(rates, currencies)
    common = shared.totals(factors_of=factors_of, until=until)
    return {basis: together(common, book.totals(factors_of=factors_of, until=until)) for basis, book in own.items()}


def together(some: dict[int, Totals], others: dict[int, Totals]) -> dict[int, Totals]:
    """The movements of two sets of customers, in order of months."""
    found = {number: Totals() for number in sorted({*some, *others})}
    for table in (some, others):
        for number, totals in table.items():
            for name in MOVEMENTS:
                found[number].add(name, totals.amounts[name], totals.counts[name])
    return found


def factors(rates: RateTable, *, base: str, currencies: Iterable[str]) -> Callable[[int], Factors]:
    """The factors into the base currency at the end of a month, by its number."""
    wanted = sorted(currencies)

    @cache
    def of(number: int) -> Factors:
        day = last_of_month(month_of(number))
        return {currency: rates.cross(currency, base, day) for currency in wanted}

    return of


def last_rate_month(rates: RateTable, currencies: Iterable[str]) -> int:
    """The last month whose rates differ from those of the month before."""
    days = [rates.rate_date(currency, date.max) for currency in currencies if currency != "EUR"]
    return number_of(max(days)) if days else 0


_EVENTS = """
    SELECT s.customer_id::text, e.subscription_id::text, e.effective_date, e.committed_date,
           e.amount_value, e.amount_currency, e.interval, e.interval_count
      FROM ledger_subscriptionevent AS e
      JOIN ledger_subscription AS s ON s.company_id = e.company_id AND s.id = e.subscription_id
     WHERE e.company_id = %(company)s AND {which}
     ORDER BY s.customer_id, e.id
"""


def histories(company_id: UUID, chosen: Chosen, *, room: bool = True) -> Iterator[dict[str, History]]:
    """Basis -> history, for each of the customers; with ``room`` to sort all events of a large company in memory."""
    for _, history in by_customer(company_id, chosen, room=room):
        yield history


def by_customer(company_id: UUID, chosen: Chosen, *, room: bool = True) -> Iterator[tuple[UUID, dict[str, History]]]:
    """The same, each with the customer's id."""
    which = ["(e.retracted_time IS NULL OR e.id = ANY(%(with_retracted)s))"]
    if chosen.without:
        which.append("e.id <> ALL(%(without)s)")
    if chosen.customers is not None:
        which.append("s.customer_id = ANY(%(customers)s)")
    if chosen.products is not None:
        which.append("s.product_id = ANY(%(products)s)")
    with transaction.atomic() if room else nullcontext(), connection.cursor() as cursor:
        if room:
            cursor.execute(ROOM)
        cursor.execute(
            _EVENTS.format(which=" AND ".join(which)),
            {
                "company": company_id,
                "customers": list(chosen.customers or ()),
                "products": list(chosen.products or ()),
                "without": list(chosen.without),
                "with_retracted": list(chosen.with_retracted),
            },
        )
        found = cursor.fetchall()
    for customer_id, rows in groupby(found, key=itemgetter(0)):
        yield UUID(customer_id), of_customer(list(rows))


def of_customer(rows: list[tuple[Any, ...]]) -> dict[str, History]:
    """One customer's history by effective and by committed date; the same where the two never differ, as is usual."""
    by_effective = history_of(dated(rows, 2))
    same = all(row[2] == row[3] for row in rows)
    return {MRR: by_effective, CMRR: by_effective if same else history_of(dated(rows, 3))}


def dated(rows: list[tuple[Any, ...]], day: int) -> Iterator[tuple[date, str, str, Decimal]]:
    """(day, subscription, currency, monthly value) in the order of days, within one in that of creation."""
    for row in sorted(rows, key=itemgetter(day)):
        yield row[day], row[1], row[5], monthly_value(row[4], row[6], row[7])


# ---------------------------------------------------------------------------------------------- keeping


@transaction.atomic
def refresh(company: Company, *, always: bool = False) -> None:
    """Adds the company's months up anew where they do not hold, or ``always``. Raises MissingRate."""
    book = lock_book(company)
    version = rates_version()
    if fresh(book, company, version) and not always:
        return
    RecurringMonth.objects.of(company.id).delete()
    write(company, added_up(company, [Chosen()]))
    book.base_currency, book.rates_version, book.stale = company.base_currency, version, False
    book.save(update_fields=["base_currency", "rates_version", "stale"])


def events_changed(*, company: Company, stamp: Stamp, changed: EventsChanged) -> None:
    """Keeps the months in step with events that were just stored or retracted, and tells the company's metrics."""
    book = lock_book(company)
    if changed.customers is None or not fresh(book, company, rates_version()):
        spoil(company)
    else:
        customers = list(changed.customers)
        before = Chosen(customers=customers, without=changed.added, with_retracted=changed.retracted, times=-1)
        try:
            write(company, added_up(company, [before, Chosen(customers=customers)]))
        except MissingRate:  # the event stands; whoever reads its months is told
            spoil(company)
    store_metrics(company=company, stamp=stamp)


def lock_book(company: Company) -> RecurringBook:
    """The company's book, locked: who reads and adds up, and who changes events, wait here for each other."""
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO ledger_recurringbook (company_id, base_currency, rates_version, stale) "
            "VALUES (%s, %s, 0, true) ON CONFLICT (company_id) DO NOTHING",
            [company.id, company.base_currency],
        )
    return RecurringBook.objects.select_for_update().get(company_id=company.id)


def spoil(company: Company) -> None:
    """The months do not hold any more: whoever reads next adds them up anew."""
    RecurringBook.objects.filter(company_id=company.id).update(stale=True)


def fresh(book: RecurringBook, company: Company, version: int) -> bool:
    return not book.stale and book.base_currency == company.base_currency and book.rates_version == version


_PLACES = ", ".join(["%s"] * (3 + len(COLUMNS)))
_ADD = f"""
    INSERT INTO ledger_recurringmonth AS m (company_id, basis, month, {", ".join(COLUMNS)}) VALUES ({_PLACES})
    ON CONFLICT (company_id, basis, month) DO UPDATE
       SET {", ".join(f"{column} = m.{column} + excluded.{column}" for column in COLUMNS)}
"""  # noqa: S608 - names of columns


def write(company: Company, by_basis: ByBasis) -> None:
    """Adds movements to the months; those that are nothing are left out."""
    rows = [
        (company.id, basis, month_of(number), *(value for name in MOVEMENTS for value in pair(totals, name)))
        for basis, months in by_basis.items()
        for number, totals in months.items()
        if totals
    ]
    with connection.cursor() as cursor:
        cursor.executemany(_ADD, rows)


def pair(totals: Totals, name: str) -> tuple[Decimal, int]:
    return totals.amounts[name], totals.counts[name]


def rebuild(company_id: UUID) -> None:
    """Adds a company's months up anew, whether they hold or not. Raises MissingRate."""
    refresh(Company.objects.get(id=company_id), always=True)


def differences(company_id: UUID) -> list[str]:
    """What the kept months say otherwise than the events; empty when all is exact, and where the months do not hold.

    Raises MissingRate.
    """
    company = Company.objects.get(id=company_id)
    book = RecurringBook.objects.filter(company_id=company_id).first()
    if book is None or not fresh(book, company, rates_version()):
        return []
    stored_months = {
        (basis, number_of(month)): totals
        for basis in RecurringMonth.BASES
        for month, totals in monthly_rows.kept(company, basis).items()
    }
    facts = {
        (basis, number): totals
        for basis, months in added_up(company, [Chosen()]).items()
        for number, totals in months.items()
    }
    return [
        f"ledger_recurringmonth: {basis} {month_of(number):%Y-%m}"
        for basis, number in sorted({*stored_months, *facts})
        if told_apart(stored_months.get((basis, number), Totals()), facts.get((basis, number), Totals()))
    ]


def told_apart(one: Totals, other: Totals) -> bool:
    """Whether two months differ by more than the noise below the twelfth decimal."""
    return one.counts != other.counts or any(
        cut(WIDE.subtract(one.amounts[name], other.amounts[name])) for name in MOVEMENTS
    )
