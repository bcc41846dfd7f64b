"""The transactions that wait for review."""

from datetime import date
from typing import Any
from uuid import UUID

from django.db.models import OuterRef, Subquery

from companies.closed_periods import is_day_closed
from companies.models import Company
from ledger.calc.months import add_months, get_first_day_of_month
from ledger.models import Account, AccountType, Categorization, Transaction
from ledger.rules.calc.payment_kind_matcher import find_payment_kind
from ledger.rules.calc.payment_kinds import PaymentKind
from ledger.rules.queries.transfer_proposals import list_recent_transfer_proposals

MISSING_FILE_MONTHS = 3  # that are over, and looked through for files that are missing


def filter_open_transactions(company: Company) -> Any:
    """Return the transactions to review: booked and not fully categorized."""
    return Transaction.objects.for_company(company.id).booked().open()


def find_pair_ids(company: Company, *, today: date) -> dict[UUID, UUID]:
    """Return the legs of suggested transfers; the value is the source of their pair."""
    pairs = list_recent_transfer_proposals(company, today=today)
    return {leg.id: pair.source.id for pair in pairs for leg in (pair.source, pair.target)}


def list_categorizable_transactions(company: Company, *, today: date, limit: int) -> list[Transaction]:
    """Return the latest transactions to review that a category may be chosen for, latest first.

    Those of closed months and legs of suggested transfers are left out: a transfer is linked, not categorized.
    """
    pair_ids = find_pair_ids(company, today=today)
    rows = filter_open_transactions(company).order_by("-date", "-id")[:limit]
    return [row for row in rows if row.id not in pair_ids and not is_day_closed(company, row.date)]


def list_missing_card_files(company: Company, *, today: date) -> list[tuple[str, date]]:
    """Return the name of each credit card that lacks its file of a month, with the month.

    In this month a settlement of a card is Transfers without the other transaction, and the card has no transaction of
    that day or later. Cards that were not used for months are left out.
    """
    until = get_first_day_of_month(today)
    first = add_months(until, -MISSING_FILE_MONTHS)
    latest = Transaction.objects.for_company(company.id).filter(account=OuterRef("id")).order_by("-date")
    cards = Account.objects.for_company(company.id).active().filter(type=AccountType.CREDIT_CARD).in_display_order()
    last_days = list(cards.annotate(last_day=Subquery(latest.values("date")[:1])).values_list("name", "last_day"))
    if not last_days:
        return []
    payments = Categorization.objects.for_company(company.id).unlinked_transfers()
    rows = payments.filter(
        value__lt=0, transaction__pending=False, transaction__date__gte=first, transaction__date__lt=until
    ).values_list("transaction__date", "transaction__from_to", "transaction__description")
    settlement_days = [
        day
        for day, from_to, description in rows
        if find_payment_kind(from_to=from_to or "", description=description or "", is_incoming=False)
        == PaymentKind.CARD_SETTLEMENT
    ]
    oldest = add_months(first, -1)
    return [
        (name, month)
        for name, last_day in last_days
        for month in sorted({get_first_day_of_month(day) for day in settlement_days if day > (last_day or date.min)})
        if last_day is None or last_day >= oldest
    ]
