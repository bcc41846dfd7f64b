"""Proposed transfers: transactions that look like the two legs of a transfer, for a person to confirm."""

from collections.abc import Collection
from datetime import date, timedelta
from decimal import Decimal
from uuid import UUID

from django.db.models import F

from companies.models import Company
from ledger.models import Categorization, DismissedMatch, Transaction
from ledger.money.calc.fx import RateLookupError, convert_currency
from ledger.money.calc.money import round_half_up
from ledger.money.rates import get_rate_table
from ledger.rules.calc.transfer_pairs import MAX_DAYS_APART, CandidateLeg, LegPair, find_transfer_pairs
from ledger.rules.queries.company_identity import load_company_identity
from ledger.transactions.queries.transfer_candidates import build_day_range

MAX_PAIRS = 10_000  # of one answer
PAIRING_WINDOW = timedelta(days=180)  # older transfers are linked from their own pages


def list_transfer_proposals(
    *, company: Company, start: date, end: date, include_categorized: bool = False
) -> list[LegPair]:
    """Return pairs among the uncategorized, booked transactions of a period, at most 10,000, the nearest first.

    One query each for them, the accounts, dismissed pairs and rates. Amounts are the uncategorized ones. A
    currency without a rate matches no other.

    Args:
        include_categorized: one leg of a pair may be categorized as Transfers, if it is not linked. One more query.
    """
    open_transactions = (
        Transaction.objects.for_company(company.id)
        .booked()
        .open()
        .filter(date__range=(start, end))
        .order_by("date", "id")
    )
    open_value = F("amount_value") - F("categorized_value")
    rows = open_transactions.values_list(
        "id", "account_id", "date", open_value, "amount_currency", "from_to", "description"
    )
    legs = [CandidateLeg(*row) for row in rows]
    if not legs:
        return []
    if include_categorized:
        legs += list_categorized_legs(company=company, start=start, end=end)
    rates = get_rate_table()

    def convert_amount(amount: Decimal, source: str, target: str, day: date) -> Decimal | None:
        try:
            return round_half_up(convert_currency(amount, source=source, target=target, day=day, rates=rates), target)
        except RateLookupError:
            return None

    dismissed_pairs = DismissedMatch.objects.for_company(company.id).transfers().pairs()
    return find_transfer_pairs(
        legs, convert_amount=convert_amount, identity=load_company_identity(company), dismissed=dismissed_pairs
    )[:MAX_PAIRS]


def list_recent_transfer_proposals(company: Company, *, today: date) -> list[LegPair]:
    """Return the pairs of the last 180 days, which the inbox lists; one leg may be categorized as Transfers."""
    return list_transfer_proposals(company=company, start=today - PAIRING_WINDOW, end=today, include_categorized=True)


def find_own_transfer_ids(company: Company, days: Collection[date]) -> set[UUID]:
    """Return the transactions around the days that are proposed as a transfer between own accounts: a text of a leg
    says so, and neither leg names a third party.
    """
    start, _ = build_day_range(min(days), days=MAX_DAYS_APART)
    _, end = build_day_range(max(days), days=MAX_DAYS_APART)
    pairs = list_transfer_proposals(company=company, start=start, end=end, include_categorized=True)
    return {leg.id for pair in pairs if pair.is_own for leg in (pair.source, pair.target)}


def list_categorized_legs(*, company: Company, start: date, end: date) -> list[CandidateLeg]:
    """Return the booked transactions of a period that are categorized as Transfers but not linked.

    Those of closed months are left out: they cannot be linked.
    """
    unlinked_transfers = (
        Categorization.objects.for_company(company.id)
        .unlinked_transfers()
        .filter(transaction__pending=False, transaction__date__range=(start, end))
        .order_by("transaction__date", "transaction_id")
    )
    if company.closed_through:
        unlinked_transfers = unlinked_transfers.filter(transaction__date__gt=company.closed_through)
    columns = ("account_id", "date", "amount_value", "amount_currency", "from_to", "description")
    rows = unlinked_transfers.values_list("transaction_id", *(f"transaction__{column}" for column in columns))
    return [
        CandidateLeg(leg_id, account_id, day, amount, currency, from_to, description, is_open=False)
        for leg_id, account_id, day, amount, currency, from_to, description in rows
    ]
