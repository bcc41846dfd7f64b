"""Proposed transfers: transactions that look like the two legs of a transfer, for a person to confirm."""

from collections.abc import Collection
from datetime import date, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

from django.db import connection
from django.db.models import F, QuerySet, Value

from companies.models import Company
from ledger.models import Categorization, DismissedMatch, Transaction
from ledger.money.calc.fx import RateLookupError, convert_currency
from ledger.money.calc.money import round_half_up
from ledger.money.rates import get_rate_table
from ledger.rules.calc.transfer_candidates import filter_matching_amounts
from ledger.rules.calc.transfer_pairs import MAX_DAYS_APART, CandidateLeg, LegPair, find_transfer_pairs
from ledger.rules.queries.company_identity import load_company_identity
from ledger.transactions.queries.transfer_candidates import build_day_range

MAX_PAIRS = 10_000  # of one answer
PAIRING_WINDOW = timedelta(days=180)  # older transfers are linked from their own pages

# Raw SQL: the ORM has no frames of days. A leg is left out where no other can match: within five days there is neither
# an opposite leg of the same amount, nor any opposite leg in another currency. It takes sorting, no join.
_CANDIDATES_SQL = """
    SELECT id, account_id, date, amount, currency, is_open
      FROM (
           SELECT legs.*,
                  bool_or(amount < 0) OVER equal_amounts AND bool_or(amount > 0) OVER equal_amounts AS has_equal_amount,
                  count(*) FILTER (WHERE amount < 0) OVER days
                      > count(*) FILTER (WHERE amount < 0) OVER currency_days AS has_other_outgoing,
                  count(*) FILTER (WHERE amount > 0) OVER days
                      > count(*) FILTER (WHERE amount > 0) OVER currency_days AS has_other_incoming
             FROM ({legs}) AS legs (id, account_id, date, amount, currency, is_open)
           WINDOW equal_amounts AS (PARTITION BY currency, abs(amount) {frame}),
                  currency_days AS (PARTITION BY currency {frame}),
                  days AS ({frame})
           ) AS legs
     WHERE has_equal_amount OR (amount < 0 AND has_other_incoming) OR (amount > 0 AND has_other_outgoing)
"""
_FRAME_SQL = "ORDER BY date RANGE BETWEEN '{days} days' PRECEDING AND '{days} days' FOLLOWING"


def list_transfer_proposals(
    *, company: Company, start: date, end: date, include_categorized: bool = False
) -> list[LegPair]:
    """Return pairs among the uncategorized, booked transactions of a period, at most 10,000, the nearest first.

    One query for the legs that may match by day and amount; if there are any, one each for their texts, the accounts,
    dismissed pairs and rates. Amounts are the uncategorized ones. A currency without a rate matches no other.

    Args:
        include_categorized: one leg of a pair may be categorized as Transfers, if it is not linked.
    """
    rates = get_rate_table()

    def convert_amount(amount: Decimal, source: str, target: str, day: date) -> Decimal | None:
        try:
            return round_half_up(convert_currency(amount, source=source, target=target, day=day, rates=rates), target)
        except RateLookupError:
            return None

    candidates = list_candidate_legs(company=company, start=start, end=end, include_categorized=include_categorized)
    legs = filter_matching_amounts(candidates, convert_amount=convert_amount)
    if not legs:
        return []
    dismissed_pairs = DismissedMatch.objects.for_company(company.id).transfers().pairs()
    return find_transfer_pairs(
        add_leg_texts(company, legs),
        convert_amount=convert_amount,
        identity=load_company_identity(company),
        dismissed=dismissed_pairs,
    )[:MAX_PAIRS]


def list_candidate_legs(*, company: Company, start: date, end: date, include_categorized: bool) -> list[CandidateLeg]:
    """Return the legs of a period that have an opposite leg of the same amount, or in another currency, within five
    days; without texts. One query.
    """
    rows = list_open_legs(company=company, start=start, end=end)
    if include_categorized:
        rows = rows.union(list_categorized_legs(company=company, start=start, end=end), all=True)
    legs_sql, params = rows.query.sql_with_params()
    statement = _CANDIDATES_SQL.format(legs=legs_sql, frame=_FRAME_SQL.format(days=MAX_DAYS_APART))
    with connection.cursor() as cursor:
        cursor.execute(statement, params)
        return [
            CandidateLeg(leg_id, account_id, day, amount, currency, is_open=is_open)
            for leg_id, account_id, day, amount, currency, is_open in cursor
        ]


def add_leg_texts(company: Company, legs: Collection[CandidateLeg]) -> list[CandidateLeg]:
    """Return the legs with counterparty name and description; one query."""
    rows = Transaction.objects.for_company(company.id).filter(id__in=[leg.id for leg in legs])
    texts = {leg_id: (from_to, text) for leg_id, from_to, text in rows.values_list("id", "from_to", "description")}
    return [CandidateLeg(*leg[:5], *texts[leg.id], leg.is_open) for leg in legs if leg.id in texts]


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


def list_open_legs(*, company: Company, start: date, end: date) -> QuerySet[Any, Any]:
    """Return the uncategorized, booked transactions of a period as legs, with the amounts that are uncategorized."""
    rows = Transaction.objects.for_company(company.id).booked().open().filter(date__range=(start, end))
    open_value = F("amount_value") - F("categorized_value")
    return rows.values_list("id", "account_id", "date", open_value, "amount_currency", Value(value=True))


def list_categorized_legs(*, company: Company, start: date, end: date) -> QuerySet[Any, Any]:
    """Return the booked transactions of a period that are categorized as Transfers but not linked, as legs.

    Those of closed months are left out: they cannot be linked.
    """
    unlinked_transfers = (
        Categorization.objects.for_company(company.id)
        .unlinked_transfers()
        .filter(transaction__pending=False, transaction__date__range=(start, end))
    )
    if company.closed_through:
        unlinked_transfers = unlinked_transfers.filter(transaction__date__gt=company.closed_through)
    columns = ("account_id", "date", "amount_value", "amount_currency")
    return unlinked_transfers.values_list(
        "transaction_id", *(f"transaction__{column}" for column in columns), Value(value=False)
    )
