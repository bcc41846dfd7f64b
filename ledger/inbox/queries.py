"""The transactions that wait for review."""

from datetime import date
from typing import Any
from uuid import UUID

from companies.closed_periods import is_day_closed
from companies.models import Company
from ledger.models import Transaction
from ledger.rules.queries.transfer_proposals import list_recent_transfer_proposals


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
