"""Settle occurrences with transactions, take settlements back, and write off what is open."""

import datetime as dt
from collections.abc import Collection, Iterable
from decimal import Decimal
from typing import Any
from uuid import UUID

from django.utils.translation import gettext as _

from companies.change import CompanyChange, change_company
from companies.errors import ValidationFailed, build_unknown_id_error
from companies.models import AuditContext, Company
from ledger.models import Transaction
from ledger.money.amounts import parse_api_amount
from ledger.money.calc.fx import RateLookupError
from ledger.money.rates import get_rate_table
from ledger.recognition.actions.postings import MissingRateError
from ledger.transactions.actions.audit_links import link_audit_entry
from ledger.transactions.actions.transactions import SettlesTooMuch
from planning.calc.settlements import compute_largest_settlement, compute_transaction_amount
from planning.models import PlannedTransaction, Settlement
from planning.planned_transactions.actions.overrides import lock_planned_transaction
from planning.planned_transactions.actions.settlement_checks import (
    NothingOpen,
    OccurrenceNotSettled,
    check_occurrence,
    check_transaction_can_settle,
    check_transactions_cover_settlements,
    check_write_off_date,
    compute_open_amount,
    get_planned_amount,
)
from planning.planned_transactions.queries.settlements import load_payment
from planning.planned_transactions.settled_categories import (
    categorize_settling_transactions,
    uncategorize_unsettled_transactions,
)
from planning.planned_transactions.settlements import recompute_settled_amounts, touch_settling_transactions


def settle_occurrence(
    *,
    company: Company,
    context: AuditContext,
    planned_id: UUID | str,
    original_date: dt.date,
    transaction_id: UUID | str,
    amount_value: str | None = None,
    rest_reason: str | None = None,
) -> PlannedTransaction:
    """Settle an occurrence with an amount of a transaction; the same pair again replaces the amount.

    A transaction without any categorization gets the category of the plan.

    Args:
        amount_value: in the sign and currency of the plan; None: what both sides have left.
        rest_reason: why what is then left of the occurrence is written off; None: it stays open.

    Raises:
        NotFoundError, NotAnOccurrence, NothingOpen, SettlesTooMuch: there is no such open amount.
        ValidationFailed: the transaction is unknown or the amount is wrong.
        MissingRateError: a currency has no exchange rate.
        One of UNSUITABLE_TRANSACTION_ERRORS: the transaction cannot settle it.
    """
    with change_company(company, context=context, closed_pointers=("#/transactionId",)) as change:
        planned = lock_planned_transaction(change, planned_id, versioned=False)
        transaction = change.lock_or_none(Transaction, transaction_id)
        if transaction is None:
            raise build_unknown_id_error("#/transactionId")
        check_occurrence(planned, original_date)
        amount = None
        if amount_value is not None:
            amount = parse_api_amount(amount_value, planned.amount_currency, pointer="#/amountValue")
        rows = lock_settlements(planned, original_date)
        stored = next((row for row in rows if row.transaction_id == transaction.id), None)
        before = describe_settlements(planned, original_date, rows)
        try:
            row = build_settlement(
                planned, original_date, transaction, [each for each in rows if each is not stored], requested=amount
            )
        except RateLookupError as error:
            raise MissingRateError.from_missing_rate(error) from error
        if stored is not None and stored.amount_value == row.amount_value:
            return planned
        if stored is not None:
            stored.delete()
        row.save(force_insert=True)
        if stored is not None:  # a smaller credit note may leave less than other settlements need
            check_transactions_cover_settlements(company.id, [transaction.id])
        after_rows = [each for each in rows if each is not stored] + [row]
        if rest_reason and compute_open_amount(planned, original_date, after_rows):
            after_rows.append(store_rest_write_off(planned, original_date, after_rows, transaction.date, rest_reason))
        record_settlement_change(change, planned, "settled", {original_date: (before, after_rows)}, {transaction.id})
        categorize_settling_transactions(change, [transaction.id])
        return planned


def unsettle_occurrence(
    *,
    company: Company,
    context: AuditContext,
    planned_id: UUID | str,
    original_date: dt.date,
    transaction_id: UUID | str | None = None,
    write_offs_only: bool = False,
) -> PlannedTransaction:
    """Take back what was settled of an occurrence: it is expected again.

    Args:
        transaction_id: take back the settlement of this transaction only; None: all, write-offs too.
        write_offs_only: take back write-offs, and keep what transactions settled.

    Raises:
        NotFoundError: the planned transaction is gone.
        ValidationFailed: the transaction is unknown.
        OccurrenceNotSettled: there is no such settlement.
        SettlesTooMuch: a credit note is needed by another settlement of the same transaction.
    """
    with change_company(company, context=context, closed_pointers=("#/date",)) as change:
        planned = lock_planned_transaction(change, planned_id, versioned=False)
        if transaction_id is not None and change.lock_or_none(Transaction, transaction_id) is None:
            raise build_unknown_id_error("#/transactionId")
        rows = lock_settlements(planned, original_date)
        removed = [row for row in rows if transaction_id is None or str(row.transaction_id) == str(transaction_id)]
        if write_offs_only:
            removed = [row for row in rows if row.transaction_id is None]
        if not removed:
            raise OccurrenceNotSettled
        before = describe_settlements(planned, original_date, rows)
        transaction_ids = {row.transaction_id for row in removed if row.transaction_id is not None}
        uncategorize_unsettled_transactions(change, transaction_ids)
        delete_settlements(change, removed)
        after_rows = [row for row in rows if row not in removed]
        record_settlement_change(change, planned, "unsettled", {original_date: (before, after_rows)}, transaction_ids)
        categorize_settling_transactions(change, transaction_ids)
        return planned


def write_off_occurrence(
    *, company: Company, context: AuditContext, planned_id: UUID | str, date: dt.date, reason: str, today: dt.date
) -> PlannedTransaction:
    """Write off what is open of an invoice or occurrence, from a day on.

    Args:
        date: the day from which it counts, from the invoice date to a year ahead. A recurring one is written off on
            the original date of an occurrence.

    Raises:
        NotFoundError, NotAnOccurrence, OccurrenceSkipped: there is no such occurrence.
        ValidationFailed: the day is before the invoice date or more than a year ahead.
        NothingOpen: everything is settled.
    """
    with change_company(company, context=context) as change:
        planned = lock_planned_transaction(change, planned_id, versioned=False)
        original_date = planned.start_date if planned.frequency is None else date
        check_occurrence(planned, original_date)
        if planned.frequency is None:
            check_write_off_date(planned, date, today=today)
        rows = lock_settlements(planned, original_date)
        if not compute_open_amount(planned, original_date, rows):
            raise NothingOpen
        before = describe_settlements(planned, original_date, rows)
        row = store_rest_write_off(planned, original_date, rows, date, reason)
        record_settlement_change(change, planned, "writtenOff", {original_date: (before, [*rows, row])}, set())
        return planned


def store_rest_write_off(
    planned: PlannedTransaction, original_date: dt.date, rows: Iterable[Settlement], date: dt.date, reason: str
) -> Settlement:
    """Store a write-off of what settlements leave open of an occurrence."""
    row = Settlement(
        company_id=planned.company_id,
        planned=planned,
        original_date=original_date,
        amount_value=compute_open_amount(planned, original_date, rows),
        date=date,
        reason=reason,
    )
    row.save(force_insert=True)
    return row


def lock_settlements(planned: PlannedTransaction, original_date: dt.date) -> list[Settlement]:
    """Lock and return the settlements of an occurrence, oldest first."""
    rows = Settlement.objects.for_company(planned.company_id).filter(planned=planned.id, original_date=original_date)
    return list(rows.select_for_update().order_by("id"))


def build_settlement(
    planned: PlannedTransaction,
    original_date: dt.date,
    transaction: Transaction,
    others: Collection[Settlement],
    *,
    requested: Decimal | None,
) -> Settlement:
    """Build the settlement of an occurrence by a transaction.

    Args:
        others: the other settlements of the occurrence.
        requested: the amount in the plan's currency; None: what both sides have left.

    Raises:
        NothingOpen, SettlesTooMuch, ValidationFailed, MissingRate, one of UNSUITABLE_TRANSACTION_ERRORS.
    """
    stored = Settlement.objects.for_company(planned.company_id).filter(
        planned=planned.id, original_date=original_date, transaction=transaction.id
    )
    payment = load_payment(transaction, excluded=list(stored.values_list("id", flat=True)))
    check_transaction_can_settle(planned, original_date, transaction)
    rates, currency = get_rate_table(), planned.amount_currency
    open_amount = compute_open_amount(planned, original_date, others)
    if not open_amount and requested is None:
        raise NothingOpen
    if requested is not None and requested * get_planned_amount(planned, original_date) <= 0:
        raise ValidationFailed([("#/amountValue", "wrong_direction", _("Must have the sign of the planned amount."))])
    largest = compute_largest_settlement(open_amount, currency, payment, rates=rates)
    amount = largest if requested is None else requested
    if not amount or abs(amount) > abs(largest):
        raise SettlesTooMuch
    return Settlement(
        company_id=planned.company_id,
        planned=planned,
        original_date=original_date,
        transaction=transaction,
        amount_value=amount,
        transaction_amount_value=compute_transaction_amount(amount, currency, payment, rates=rates),
    )


def delete_settlements(change: CompanyChange, rows: Collection[Settlement]) -> None:
    """Delete settlements.

    Raises:
        SettlesTooMuch: without them, what is left of a transaction is less than its other settlements.
    """
    company_id = change.company.id
    Settlement.objects.for_company(company_id).filter(id__in=[row.id for row in rows]).delete()
    check_transactions_cover_settlements(company_id, {row.transaction_id for row in rows})


def record_settlement_change(
    change: CompanyChange,
    planned: PlannedTransaction,
    event: str,
    changed: dict[dt.date, tuple[list[dict[str, Any]], list[Settlement]]],
    transaction_ids: set[UUID],
) -> None:
    """Mark both sides as changed and record the change in the audit log.

    Args:
        changed: by original date, what was settled before, and the settlements now.
    """
    recompute_settled_amounts(change.company.id, [planned.id])
    planned.mark_updated(change.context)
    touch_settling_transactions(change, transaction_ids, periods_changed=planned.invoice_date is not None)
    before = {day.isoformat(): described for day, (described, _) in changed.items()}
    after = {day.isoformat(): describe_settlements(planned, day, rows) for day, (_, rows) in changed.items()}
    if event == "settled" and planned.is_invoice and is_paid(planned, changed):
        event = "paid"
    entry = change.record(
        planned, f"{planned.entity_type}.{event}", before={"settlements": before}, after={"settlements": after}
    )
    link_audit_entry(change, entry, transaction_ids)


def is_paid(planned: PlannedTransaction, changed: dict[dt.date, tuple[list[dict[str, Any]], list[Settlement]]]) -> bool:
    """Whether nothing is open of the occurrences that changed."""
    return not any(compute_open_amount(planned, day, rows) for day, (_, rows) in changed.items())


def describe_settlements(
    planned: PlannedTransaction, original_date: dt.date, rows: Iterable[Settlement]
) -> list[dict[str, Any]]:
    """Return the settlements of an occurrence for the audit log."""
    return [
        {"transaction_id": row.transaction_id, "amount_value": row.amount_value}
        if row.transaction_id is not None
        else {"date": row.date, "amount_value": row.amount_value, "reason": row.reason}
        for row in rows
    ]
