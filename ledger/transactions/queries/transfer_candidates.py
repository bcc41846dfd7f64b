"""Transactions that could be the other leg of a transfer."""

from collections.abc import Iterable
from datetime import date
from decimal import Decimal
from typing import Any
from uuid import UUID

from django.db.models import Case, F, Q, Value, When
from django.db.models.functions import Greatest

from companies.models import Company, IdIn
from ledger.models import Categorization, Transaction
from ledger.money.calc.fx import RateLookupError, RateTable, convert_currency
from ledger.money.calc.money import CURRENCIES
from ledger.money.rates import get_rate_table
from ledger.transactions.queries.transfer_amounts import AMOUNT_TOLERANCE, has_amount_difference

MAX_CANDIDATES = 50


def list_transfer_candidates(
    *, company: Company, source: Transaction, value: Decimal, days: int, any_amount: bool = False
) -> list[Transaction]:
    """Return transactions that could be the other leg of `value` of the source, nearest day first.

    They are partly uncategorized, or categorized as Transfers but not linked, on another account, have the opposite
    sign, are at most `days` days away, and their amount is equal or, across currencies, within 10 % at the day's
    rate (`any_amount` lifts this). Each has `remaining_amount`, the amount to link. At most 50; one query.

    Raises:
        MissingRateError.
    """
    day_range = build_day_range(source.date, days=days)
    unlinked_transfers = Categorization.objects.for_company(company.id).unlinked_transfers()
    unlinked_ids = unlinked_transfers.filter(transaction__date__range=day_range).values("transaction_id")
    is_categorized = Q(amount_value=F("categorized_value"))
    rows = Transaction.objects.for_company(company.id).filter(~is_categorized | Q(IdIn("id", unlinked_ids)))
    rows = rows.exclude(account_id=source.account_id).annotate(
        remaining_amount=Case(
            When(is_categorized, then=F("amount_value")), default=F("amount_value") - F("categorized_value")
        )
    )
    rows = rows.filter(date__range=day_range)
    rows = rows.filter(amount_value__gt=0) if value < 0 else rows.filter(amount_value__lt=0)
    if not any_amount:
        rows = rows.filter(build_remainder_condition(source, value, rates=get_rate_table()))
    ordered = rows.annotate(away=compute_days_apart(source.date)).order_by("away", "id")[: 2 * MAX_CANDIDATES]
    transactions: Iterable[Any] = ordered
    if not any_amount:  # the query preselects; the rule of transfers decides
        transactions = (
            row for row in transactions if not has_amount_difference(source, value, row, row.remaining_amount)
        )
    return list(transactions)[:MAX_CANDIDATES]


def find_unlinked_transfers(company: Company, transaction_ids: Iterable[UUID]) -> dict[UUID, UUID]:
    """Return by transaction id the categorization as Transfers that can be linked, of those that have one."""
    rows = Categorization.objects.for_company(company.id).unlinked_transfers()
    return dict(rows.filter(transaction_id__in=transaction_ids).values_list("transaction_id", "id"))


def build_day_range(day: date, *, days: int) -> tuple[date, date]:
    """Return (first day, last day) around a day, within the range of dates.

    >>> build_day_range(date(1, 1, 2), days=3)
    (datetime.date(1, 1, 1), datetime.date(1, 1, 5))
    """
    ordinal = day.toordinal()
    first, last = max(ordinal - days, date.min.toordinal()), min(ordinal + days, date.max.toordinal())
    return date.fromordinal(first), date.fromordinal(last)


def compute_days_apart(day: date) -> Greatest:
    """Return an expression: the number of days before or after a day."""
    return Greatest(F("date") - Value(day), Value(day) - F("date"))


def build_remainder_condition(source: Transaction, value: Decimal, *, rates: RateTable) -> Q:
    """Return the condition that the uncategorized amount may match, per currency; without a rate nothing matches."""
    condition = Q(amount_currency=source.amount_currency, remaining_amount=-value)
    for currency in CURRENCIES:
        if currency == source.amount_currency:
            continue
        try:
            expected = convert_currency(
                value, source=source.amount_currency, target=currency, day=source.date, rates=rates
            )
        except RateLookupError:
            continue
        bounds = sorted((-expected * (1 - AMOUNT_TOLERANCE), -expected * (1 + AMOUNT_TOLERANCE)))
        condition |= Q(amount_currency=currency, remaining_amount__range=bounds)
    return condition
