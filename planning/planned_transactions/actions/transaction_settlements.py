"""Settle several occurrences with one transaction, and take all settlements of a transaction back."""

import datetime as dt
from collections.abc import Sequence
from decimal import Decimal
from typing import NamedTuple
from uuid import UUID

from companies.change import change_company
from companies.errors import NotFoundError
from companies.models import AuditContext, Company
from ledger.models import Transaction
from planning.models import PlannedTransaction, Settlement
from planning.planned_transactions.actions.settlement_checks import OccurrenceNotSettled
from planning.planned_transactions.actions.settlements import settle_occurrence, unsettle_occurrence


class RequestedSettlement(NamedTuple):
    """An occurrence to settle, with an amount in the plan's currency and sign."""

    planned_id: UUID
    original_date: dt.date
    amount: Decimal


def settle_with_transaction(
    *,
    company: Company,
    context: AuditContext,
    transaction_id: UUID | str,
    settlements: Sequence[RequestedSettlement],
) -> list[PlannedTransaction]:
    """Settle occurrences with one transaction, all or none. Credit notes come first: they raise what is left of it.

    Raises what `settle_occurrence` raises.
    """
    total = sum((each.amount for each in settlements), start=Decimal(0))
    credit_notes_first = sorted(settlements, key=lambda each: each.amount * total > 0)
    with change_company(company, context=context):
        return [
            settle_occurrence(
                company=company,
                context=context,
                planned_id=credit_note.planned_id,
                original_date=credit_note.original_date,
                transaction_id=transaction_id,
                amount_value=format(credit_note.amount, "f"),
            )
            for credit_note in credit_notes_first
        ]


def unsettle_transaction(*, company: Company, context: AuditContext, transaction_id: UUID | str) -> int:
    """Take back everything that a transaction settles; return how many occurrences are expected again.

    Raises:
        NotFoundError: the transaction is gone.
        OccurrenceNotSettled: it settles nothing.
    """
    with change_company(company, context=context) as change:
        transaction = change.lock_or_none(Transaction, transaction_id)
        if transaction is None:
            raise NotFoundError
        rows = Settlement.objects.for_company(company.id).filter(transaction=transaction)
        credit_notes_last = sorted(rows, key=lambda row: row.amount_value * transaction.amount_value < 0)
        if not credit_notes_last:
            raise OccurrenceNotSettled
        for row in credit_notes_last:
            unsettle_occurrence(
                company=company,
                context=context,
                planned_id=row.planned_id,
                original_date=row.original_date,
                transaction_id=transaction.id,
            )
    return len(credit_notes_last)
