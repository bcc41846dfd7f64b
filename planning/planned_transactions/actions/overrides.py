"""Overrides of single occurrences: move, skip, change, settle and unsettle."""

import datetime as dt
from collections.abc import Mapping
from decimal import Decimal
from typing import Any
from uuid import UUID

from django.utils.translation import gettext as _

from companies.change import CompanyChange, change_company
from companies.errors import ConflictError, InvalidInputError, NotFoundError, build_unknown_id_error
from companies.models import AuditContext, Company
from ledger.models import Account, Category, Transaction, TransactionIsInitialBalance
from ledger.transactions.actions.audit_links import link_audit_entry
from ledger.transactions.actions.transactions import WrongDirection
from planning.body_checks import BodyChecks
from planning.calc.recurrence import is_occurrence
from planning.models import (
    OccurrenceSkipped,
    PlannedOverride,
    PlannedTransaction,
    TransactionSettlesAnother,
    attach_overrides,
)
from planning.planned_transactions.settled_categories import (
    categorize_settling_transactions,
    uncategorize_unsettled_transaction,
)
from planning.planned_transactions.settlements import touch_settling_transactions

Patches = Mapping[dt.date, Mapping[str, Any]]


class NotAnOccurrence(InvalidInputError):
    """The planned transaction has no occurrence on this date."""

    code = "not_an_occurrence"


class OccurrenceSettled(ConflictError):
    """The occurrence is already settled by another transaction."""

    code = "occurrence_settled"


class OccurrenceNotSettled(ConflictError):
    """The occurrence is not settled."""

    code = "occurrence_not_settled"


class TransactionPending(ConflictError):
    """The transaction is pending. It can settle an occurrence once it is booked."""

    code = "transaction_pending"


UNSUITABLE_TRANSACTION_ERRORS = (
    TransactionSettlesAnother,
    OccurrenceSkipped,
    WrongDirection,
    TransactionPending,
    TransactionIsInitialBalance,
)  # of every settlement


def lock_planned_transaction(
    change: CompanyChange, planned_id: UUID | str, *, versioned: bool = True
) -> PlannedTransaction:
    """Lock a planned transaction and attach its overrides.

    Raises:
        NotFoundError, PreconditionFailed: it is gone or has another version.
    """
    rows = PlannedTransaction.objects.with_counterparty()
    return attach_overrides([change.lock(rows, planned_id, check_versions=versioned)])[0]


def set_occurrence_override(
    *,
    company: Company,
    context: AuditContext,
    planned_id: UUID | str,
    original_date: dt.date,
    patch: Mapping[str, Any],
) -> PlannedTransaction:
    """Apply a patch to an occurrence: keys it lacks stay as they are, null resets a value to the planned one.

    Raises:
        NotFoundError, PreconditionFailed: the planned transaction is gone or has another version.
        NotAnOccurrence: it does not occur on the date.
        ValidationFailed: the patch refers to unknown rows or has a wrong amount.
        One of UNSUITABLE_TRANSACTION_ERRORS: the transaction cannot settle it.
    """
    with change_company(company, context=context) as change:
        planned = lock_planned_transaction(change, planned_id)
        if not is_occurrence(planned.recurrence_rule(), original_date):
            raise NotAnOccurrence
        checks = BodyChecks(company)
        columns = build_patch_columns(checks, patch, currency=planned.amount_currency, pointer="#")
        checks.raise_if_invalid()
        overlaid = {**get_occurrence_patch(planned, original_date), **columns}
        merged = {name: value for name, value in overlaid.items() if value is not None}
        return save_overrides(change, planned, {original_date: merged}, removed=set())


def delete_occurrence_override(
    *, company: Company, context: AuditContext, planned_id: UUID | str, original_date: dt.date
) -> PlannedTransaction:
    """Delete the override of an occurrence.

    Raises:
        NotFoundError: there is none, or the planned transaction is gone.
        PreconditionFailed: the planned transaction has another version.
    """
    with change_company(company, context=context) as change:
        planned = lock_planned_transaction(change, planned_id)
        if original_date not in planned.overrides:
            raise NotFoundError
        return save_overrides(change, planned, {}, removed={original_date})


def settle_occurrence(
    *,
    company: Company,
    context: AuditContext,
    planned_id: UUID | str,
    original_date: dt.date,
    transaction_id: UUID | str,
) -> PlannedTransaction:
    """Settle an occurrence with a transaction, which removes it from the forecast.

    A transaction without any categorization gets the category of the plan.
    Nothing happens if this transaction settles it already.

    Raises:
        NotFoundError, NotAnOccurrence, OccurrenceSettled: there is no such open occurrence.
        ValidationFailed: the transaction is unknown.
        One of UNSUITABLE_TRANSACTION_ERRORS: the transaction cannot settle it.
    """
    with change_company(company, context=context) as change:
        planned = lock_planned_transaction(change, planned_id, versioned=False)
        transaction = change.lock_or_none(Transaction, transaction_id)
        if transaction is None:
            raise build_unknown_id_error("#/transactionId")
        if not is_occurrence(planned.recurrence_rule(), original_date):
            raise NotAnOccurrence(pointer="#/date")
        patch = get_occurrence_patch(planned, original_date)
        if patch.get("transaction_id", transaction.id) != transaction.id:
            raise OccurrenceSettled
        settled = {**patch, "transaction_id": transaction.id}
        planned = save_overrides(change, planned, {original_date: settled}, removed=set(), event="settled")
        categorize_settling_transactions(change, [transaction.id])
        return planned


def unsettle_occurrence(
    *, company: Company, context: AuditContext, planned_id: UUID | str, original_date: dt.date
) -> PlannedTransaction:
    """Remove the settlement of an occurrence: it is expected again, and its transaction may settle another.

    Raises:
        NotFoundError: the planned transaction is gone.
        OccurrenceNotSettled: no transaction settles it.
    """
    with change_company(company, context=context) as change:
        planned = lock_planned_transaction(change, planned_id, versioned=False)
        patch = get_occurrence_patch(planned, original_date)
        if (transaction_id := patch.pop("transaction_id", None)) is None:
            raise OccurrenceNotSettled
        uncategorize_unsettled_transaction(change, transaction_id)
        return save_overrides(change, planned, {original_date: patch}, removed=set(), event="unsettled")


def get_occurrence_patch(planned: PlannedTransaction, original_date: dt.date) -> dict[str, Any]:
    """Return what differs about the occurrence of a date."""
    override = planned.overrides.get(original_date)
    return dict(override.to_patch()) if override else {}


def save_overrides(
    change: CompanyChange,
    planned: PlannedTransaction,
    patches: Patches,
    *,
    removed: set[dt.date],
    event: str = "overridden",
) -> PlannedTransaction:
    """Save patches of validated columns and record them in the audit log, where anything differs."""
    before = {day: get_occurrence_patch(planned, day) for day in (*patches, *removed) if day in planned.overrides}
    if store_override_rows(change, planned, patches, removed=removed):
        planned.mark_updated(change.context)
        after = {day: get_occurrence_patch(planned, day) for day in patches if day in planned.overrides}
        entry = change.record(
            planned, f"plannedTransaction.{event}", before=to_iso_keys(before), after=to_iso_keys(after)
        )
        previous_ids, current_ids = (
            {each["transaction_id"] for each in side.values() if "transaction_id" in each} for side in (before, after)
        )
        link_audit_entry(change, entry, previous_ids ^ current_ids)
    return planned


def build_patch_columns(checks: BodyChecks, patch: Mapping[str, Any], *, currency: str, pointer: str) -> dict[str, Any]:
    """Return a patch as columns: amounts as Decimal, ids collected for the reference check."""
    columns = dict(patch)
    if patch.get("amount_value") is not None:
        columns["amount_value"] = checks.parse_amount(patch["amount_value"], currency, f"{pointer}/amountValue")
    checks.add_reference(Account, patch.get("account_id"), f"{pointer}/accountId")
    checks.add_reference(Category, patch.get("category_id"), f"{pointer}/categoryId")
    checks.add_reference(Transaction, patch.get("transaction_id"), f"{pointer}/transactionId")
    return columns


def store_override_rows(
    change: CompanyChange, planned: PlannedTransaction, patches: Patches, *, removed: set[dt.date]
) -> bool:
    """Write the patches that differ from the stored ones; return whether any did.

    Raises:
        One of UNSUITABLE_TRANSACTION_ERRORS: a transaction cannot settle its occurrence.
    """
    stored_patches = {day: row.to_patch() for day, row in planned.overrides.items()}
    changed = {day: patch for day, patch in patches.items() if stored_patches.get(day, {}) != patch}
    replaced_dates = {day for day in (removed | set(changed)) if day in planned.overrides}
    if not changed and not replaced_dates:
        return False
    check_settlements(planned, changed, replaced=replaced_dates)
    rows = PlannedOverride.objects.for_company(planned.company_id).filter(planned=planned.id)
    rows.filter(original_date__in=replaced_dates).delete()
    new_rows = [
        PlannedOverride(company_id=planned.company_id, planned=planned, original_date=day, **patch)
        for day, patch in changed.items()
        if patch
    ]
    PlannedOverride.objects.bulk_create(new_rows)
    before = {planned.overrides[day].transaction_id for day in replaced_dates}
    touch_settling_transactions(
        change, before ^ {row.transaction_id for row in new_rows}, periods_changed=planned.invoice_date is not None
    )
    kept_overrides = {day: row for day, row in planned.overrides.items() if day not in replaced_dates}
    planned.overrides = dict(sorted((kept_overrides | {row.original_date: row for row in new_rows}).items()))
    return True


def check_settlements(planned: PlannedTransaction, changed: Patches, *, replaced: set[dt.date]) -> None:
    """Check that the transactions named in patches may settle their occurrences; two statements.

    Raises:
        One of UNSUITABLE_TRANSACTION_ERRORS.
    """
    settlements = [(day, patch) for day, patch in changed.items() if "transaction_id" in patch]
    if not settlements:
        return
    transaction_ids = {patch["transaction_id"] for _, patch in settlements}
    transactions = Transaction.objects.for_company(planned.company_id).in_bulk(transaction_ids)
    for day, patch in settlements:
        before = planned.overrides.get(day)
        if before is None or before.transaction_id != patch["transaction_id"]:
            reject_unsuitable_transaction(
                transactions[patch["transaction_id"]], planned_amount=patch.get("amount_value", planned.amount_value)
            )
        if patch.get("skipped"):
            raise OccurrenceSkipped
    other_overrides = PlannedOverride.objects.for_company(planned.company_id).filter(transaction__in=transaction_ids)
    if (
        len(transaction_ids) < len(settlements)
        or other_overrides.exclude(planned=planned.id, original_date__in=replaced).exists()
    ):
        raise TransactionSettlesAnother


def reject_unsuitable_transaction(transaction: Transaction, *, planned_amount: Decimal) -> None:
    """Reject a transaction that cannot settle an occurrence of an amount.

    Raises:
        InitialBalanceFixed, TransactionPending, OtherDirection.
    """
    if transaction.is_initial:
        raise TransactionIsInitialBalance
    if transaction.pending:
        raise TransactionPending
    if transaction.amount_value * planned_amount <= 0:
        raise WrongDirection


def check_settlement_direction(
    *, company: Company, transaction: Transaction, changed: set[str], context: AuditContext
) -> None:
    """Check that an edited transaction keeps the direction of what it settles.

    Raises:
        OtherDirection: it does not.
    """
    if "amount_value" not in changed:
        return
    rows = PlannedOverride.objects.for_company(company.id).filter(transaction=transaction.id).select_related("planned")
    for row in rows:
        planned_amount = row.planned.amount_value if row.amount_value is None else row.amount_value
        if transaction.amount_value * planned_amount <= 0:
            raise WrongDirection(
                _("It settles a planned transaction in the other direction. Unsettle that first."),
                pointer="#/amountValue",
            )


def to_iso_keys(patches: Mapping[dt.date, Any]) -> dict[str, Any]:
    """Return the patches with ISO dates as keys."""
    return {day.isoformat(): patch for day, patch in patches.items()}
