"""Match booked transactions to open occurrences by direction, date and amount."""

import datetime as dt
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import NamedTuple
from uuid import UUID

from ledger.money.calc.fx import RateLookupError, RateTable, convert_currency
from ledger.money.calc.money import round_half_up

EQUAL_EVIDENCE, SIMILAR_EVIDENCE = ("amount", "date"), ("similarAmount", "date")
CONVERSION_TOLERANCE = Decimal("1.01")  # converting with two rates may lose the last digit


class OpenOccurrence(NamedTuple):
    """An open occurrence of a planned transaction; without an account it may be booked on any."""

    planned_id: UUID
    original_date: dt.date
    date: dt.date
    amount: Decimal
    currency: str
    account_id: UUID | None


class BookedTransaction(NamedTuple):
    """A booked transaction that settles no occurrence yet."""

    id: UUID
    date: dt.date
    amount: Decimal
    currency: str
    account_id: UUID


@dataclass(frozen=True, slots=True)
class SettlementMatch:
    """A transaction that could settle an occurrence.

    `days` is the distance of their dates. `difference` is the transaction's amount less the planned one, in the
    plan's currency: -5 where 105 went out for 100, or 95 came in for 100. `evidence` says why: `number`, `reference`,
    `amount`, `similarAmount`, `sum`, `counterparty`, `date`. Of equal candidates each is a match, and `is_ambiguous`.
    A transaction that pays several invoices has `settlements`: each invoice, of which `occurrence` is the first, with
    its amount.
    """

    occurrence: OpenOccurrence
    transaction: BookedTransaction
    days: int
    difference: Decimal
    evidence: tuple[str, ...] = ()
    is_ambiguous: bool = False
    settlements: tuple[tuple[OpenOccurrence, Decimal], ...] = ()


def match_occurrences(
    occurrences: Iterable[OpenOccurrence],
    transactions: Iterable[BookedTransaction],
    *,
    max_days: int,
    tolerance: Decimal = Decimal(0),
    rates: RateTable | None = None,
    dismissed: Container[tuple[UUID, UUID, dt.date]] = (),
    is_unrelated: Callable[[SettlementMatch], bool] | None = None,
) -> list[SettlementMatch]:
    """Return pairs of an open occurrence and a transaction, nearest dates first, then nearest amounts.

    Each occurrence and each transaction is in at most one pair. Amounts in other currencies are compared at the
    rate of the transaction's day where `rates` has one.

    Args:
        max_days: largest distance of the two dates.
        tolerance: largest difference as a share of the planned amount.
        dismissed: (transaction, planned transaction, original date) that must not be paired.
        is_unrelated: whether the two of a pair have different parties, so that they must not be paired.

    >>> rent = OpenOccurrence(UUID(int=1), dt.date(2024, 1, 31), dt.date(2024, 1, 31), Decimal(-100), "EUR", None)
    >>> paid = BookedTransaction(UUID(int=2), dt.date(2024, 2, 2), Decimal(-105), "EUR", UUID(int=3))
    >>> pairs = match_occurrences([rent], [paid], max_days=10, tolerance=Decimal("0.1"))
    >>> [(pair.days, pair.difference) for pair in pairs]
    [(2, Decimal('-5.00'))]
    """
    transactions_by_day: defaultdict[dt.date, defaultdict[str, list[BookedTransaction]]] = defaultdict(
        lambda: defaultdict(list)
    )
    for row in sorted(transactions, key=get_transaction_amount):
        transactions_by_day[row.date][row.currency].append(row)
    matches = [
        match
        for occurrence in occurrences
        for day in iter_nearby_days(occurrence.date, max_days)
        if day in transactions_by_day
        for currency, rows in transactions_by_day[day].items()
        for match in iter_fitting_matches(occurrence, rows, currency, tolerance=tolerance, rates=rates)
        if (match.transaction.id, occurrence.planned_id, occurrence.original_date) not in dismissed
        and not (is_unrelated and is_unrelated(match))
    ]
    matches.sort(key=rank_match)
    return list(iter_unique_matches(matches))


def rank_match(match: SettlementMatch) -> tuple[int, Decimal, dt.date, UUID, UUID]:
    """Return the sort key of a match: distance in days, difference, then ids; no two matches share one."""
    awaited = match.occurrence
    return match.days, abs(match.difference), awaited.original_date, awaited.planned_id, match.transaction.id


def iter_unique_matches(matches: Iterable[SettlementMatch]) -> Iterator[SettlementMatch]:
    """Yield the matches whose occurrence and transaction are in no earlier match."""
    occurrences: set[tuple[UUID, dt.date]] = set()
    transactions: set[UUID] = set()
    for match in matches:
        occurrence = (match.occurrence.planned_id, match.occurrence.original_date)
        if occurrence not in occurrences and match.transaction.id not in transactions:
            occurrences.add(occurrence)
            transactions.add(match.transaction.id)
            yield match


def iter_fitting_matches(
    occurrence: OpenOccurrence,
    transactions: Sequence[BookedTransaction],
    currency: str,
    *,
    tolerance: Decimal,
    rates: RateTable | None,
) -> Iterator[SettlementMatch]:
    """Yield the matches of an occurrence with transactions of one day and currency, ordered by amount."""
    margin = abs(occurrence.amount) * tolerance
    converted_amount = convert_if_known(
        occurrence.amount, occurrence.currency, currency, day=transactions[0].date, rates=rates
    )
    if not converted_amount:  # the amount is 0, or there is no exchange rate
        return
    largest_difference = abs(converted_amount) * tolerance * CONVERSION_TOLERANCE
    start = bisect_left(transactions, converted_amount - largest_difference, key=get_transaction_amount)
    stop = bisect_right(transactions, converted_amount + largest_difference, key=get_transaction_amount)
    for transaction in transactions[start:stop]:
        if occurrence.account_id not in (None, transaction.account_id):
            continue
        difference = (
            convert_if_known(transaction.amount, currency, occurrence.currency, day=transaction.date, rates=rates) or 0
        ) - occurrence.amount
        if abs(difference) <= margin:
            yield SettlementMatch(
                occurrence,
                transaction,
                abs((transaction.date - occurrence.date).days),
                round_half_up(difference, occurrence.currency),
                SIMILAR_EVIDENCE if difference else EQUAL_EVIDENCE,
            )


def convert_if_known(
    amount: Decimal, source: str, target: str, *, day: dt.date, rates: RateTable | None
) -> Decimal | None:
    """Convert an amount; None where there is no exchange rate."""
    if source == target or rates is None:
        return amount if source == target else None
    try:
        return convert_currency(amount, source=source, target=target, day=day, rates=rates)
    except RateLookupError:
        return None


def get_transaction_amount(transaction: BookedTransaction) -> Decimal:
    return transaction.amount


def iter_nearby_days(day: dt.date, days: int) -> Iterator[dt.date]:
    """Yield the days from `days` before to `days` after a day, within the calendar."""
    ordinal = day.toordinal()
    first, last = max(ordinal - days, dt.date.min.toordinal()), min(ordinal + days, dt.date.max.toordinal())
    return map(dt.date.fromordinal, range(first, last + 1))
