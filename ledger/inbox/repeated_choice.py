"""Offer a category that a person just chose for the other transactions to review of the same counterparty."""

from datetime import date
from decimal import Decimal
from typing import NamedTuple
from uuid import UUID

from django.db.models import Value
from django.db.models.functions import Left, Lower

from companies.closed_periods import is_day_closed
from companies.models import Company
from ledger.calc.recognition import DateRule
from ledger.calc.stated_period import find_stated_period
from ledger.inbox.queries import filter_open_transactions, find_pair_ids
from ledger.models import Transaction
from ledger.models.transactions import MAX_INDEXED_NAME_LENGTH
from ledger.rules.calc.stated_parts import find_named_parts, find_stated_parts
from ledger.rules.queries.suggestions import NothingToLearn, build_rule_from_transaction

MAX_REPEATED = 200  # transactions of one act


class RepeatedChoice(NamedTuple):
    """A choice for other transactions with the same name and direction."""

    name: str
    category_id: UUID
    pl_type: str
    counterparty_id: UUID | None
    tax_percent: Decimal | None
    transactions: list[Transaction]


def find_repeated_choice(company: Company, transaction_id: UUID | None, *, today: date) -> RepeatedChoice | None:
    """Return the choice for a transaction with the others it can be repeated for; None if there are none.

    The transaction must have exactly one category, on its own date. Legs of suggested transfers, transactions of closed
    months and those whose text states parts or a period are left out.
    """
    chosen = Transaction.objects.for_company(company.id).filter(id=transaction_id).first() if transaction_id else None
    if chosen is None or not chosen.from_to.strip():
        return None
    rows = list_open_transactions_like(company, chosen)
    if not rows:
        return None
    try:
        rule = build_rule_from_transaction(company, chosen)
    except NothingToLearn:
        return None
    pair_ids = find_pair_ids(company, today=today)
    rows = [
        row
        for row in rows
        if row.id not in pair_ids and not is_day_closed(company, row.date) and not has_stated_parts_or_period(row)
    ]
    if not rows or not rule.category_id or not rule.pl_type or rule.date_rule != DateRule.TRANSACTION_DATE:
        return None
    return RepeatedChoice(
        chosen.from_to,
        rule.category_id,
        rule.pl_type,
        rule.given_counterparty_id,
        rule.pass_through_tax_percent,
        rows,
    )


def has_stated_parts_or_period(row: Transaction) -> bool:
    """Whether the text of a transaction says that it needs more than a category."""
    text = row.description or row.from_to
    return bool(find_stated_parts(text, row.amount_value) or find_named_parts(text) or find_stated_period(text))


def list_open_transactions_like(company: Company, transaction: Transaction) -> list[Transaction]:
    """Return the transactions to review with the same name and direction, latest first, without this one."""
    sign = "gt" if transaction.amount_value > 0 else "lt"
    rows = filter_open_transactions(company).annotate(known_by=Lower(Left("from_to", MAX_INDEXED_NAME_LENGTH)))
    name = Lower(Value(transaction.from_to[:MAX_INDEXED_NAME_LENGTH]))
    rows = rows.filter(known_by=name, **{f"amount_value__{sign}": 0}).exclude(id=transaction.id)
    return list(rows.order_by("-date", "-id")[:MAX_REPEATED])
