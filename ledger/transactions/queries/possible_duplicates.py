"""Payments that may have been made twice."""

from collections.abc import Iterable
from datetime import date, timedelta
from typing import Any, NamedTuple
from uuid import UUID

from django.db.models import F, Window
from django.db.models.functions import Lag, Upper

from companies.models import Company
from ledger import hooks
from ledger.models import DismissedMatch, Transaction

MAX_DAYS_APART = timedelta(days=7)
MAX_CADENCE = timedelta(days=8)  # of payments that are made every week or more often
RECENT_DAYS = timedelta(days=45)  # the month to close, and the days since
MAX_RECENT = 5


class PossibleDuplicate(NamedTuple):
    """A payment, and the one before it that it may repeat."""

    row: Transaction
    earlier: Transaction


def list_recent_duplicates(company: Company, *, today: date) -> list[PossibleDuplicate]:
    """Return up to five pairs of the last 45 days, latest first."""
    return list_possible_duplicates(company, start=today - RECENT_DAYS, end=today)[:MAX_RECENT]


def list_possible_duplicates(
    company: Company, *, start: date, end: date, of: Transaction | None = None
) -> list[PossibleDuplicate]:
    """Return payments of the days that follow one of the same name and amount within seven days, latest first.

    Left out are transfers, pairs that a person dismissed, payments that are made every week or more often, and pairs
    of which each settles something planned. At most five statements.

    Args:
        of: only pairs with this transaction.
    """
    rows = (
        Transaction.objects.for_company(company.id)
        .booked()
        .without_initial_balances()
        .filter(amount_value__lt=0, transferred_value=0, date__range=(start - MAX_DAYS_APART - MAX_CADENCE, end))
        .exclude(from_to="")
    )
    if of is not None:
        rows = rows.filter(from_to__iexact=of.from_to, amount_value=of.amount_value, amount_currency=of.amount_currency)
    pairs = [
        (row_id, earlier_id)
        for row_id, day, earlier_id, earlier_day, before_day in annotate_earlier_payments(rows)
        if day >= start
        and (of is None or of.id in (row_id, earlier_id))
        and not (before_day and earlier_day - before_day <= MAX_CADENCE)
    ]
    dismissed = DismissedMatch.objects.for_company(company.id).transfers().pairs() if pairs else set()
    pairs = [pair for pair in pairs if pair not in dismissed]
    planned_ids = find_planned_payments(company, {each for pair in pairs for each in pair})
    pairs = [pair for pair in pairs if not set(pair) <= planned_ids]
    transactions = Transaction.objects.for_company(company.id).in_bulk([each for pair in pairs for each in pair])
    return [
        PossibleDuplicate(transactions[row_id], transactions[earlier_id])
        for row_id, earlier_id in pairs
        if row_id in transactions and earlier_id in transactions
    ]


def annotate_earlier_payments(rows: Any) -> Any:
    """Return (id, date, id and date of the payment before, date of the one before that) of payments that follow one of
    the same name and amount within seven days, latest first.
    """
    window: dict[str, Any] = {
        "partition_by": [Upper("from_to"), "amount_currency", "amount_value"],
        "order_by": ["date", "id"],
    }
    annotated = rows.annotate(
        earlier_id=Window(Lag("id"), **window),
        earlier_day=Window(Lag("date"), **window),
        before_day=Window(Lag("date", offset=2), **window),
    )
    close = annotated.filter(earlier_day__gte=F("date") - MAX_DAYS_APART)
    return close.order_by("-date", "-id").values_list("id", "date", "earlier_id", "earlier_day", "before_day")


def find_planned_payments(company: Company, transaction_ids: Iterable[UUID]) -> set[UUID]:
    """Return the transactions that settle something planned."""
    ids = list(transaction_ids)
    if not ids:
        return set()
    results = hooks.list_settled_occurrences.run(company_id=company.id, transaction_ids=ids)
    return {transaction_id for settled in results for transaction_id, occurrences in settled.items() if occurrences}
