"""Overrides of single occurrences: move, skip and change."""

import datetime as dt
from collections.abc import Mapping
from typing import Any
from uuid import UUID

from django.utils.translation import gettext as _

from companies.change import CompanyChange, change_company
from companies.errors import NotFoundError
from companies.models import AuditContext, Company
from ledger.models import Account, Category
from planning.body_checks import BodyChecks
from planning.calc.recurrence import is_occurrence
from planning.models import PlannedOverride, PlannedTransaction, attach_overrides
from planning.planned_transactions.actions.settlement_checks import NotAnOccurrence, check_settled_occurrences
from planning.planned_transactions.settlements import recompute_settled_amounts

Patches = Mapping[dt.date, Mapping[str, Any]]


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
        OccurrenceSettled, SettlesTooMuch: it is settled and cannot be skipped, or more is settled than this.
    """
    with change_company(company, context=context) as change:
        planned = lock_planned_transaction(change, planned_id)
        if not is_occurrence(planned.recurrence_rule(), original_date):
            raise NotAnOccurrence
        checks = BodyChecks(company)
        columns = build_patch_columns(checks, patch, currency=planned.amount_currency, pointer="#")
        check_transfer_patch(checks, patch, transfer_account_id=planned.transfer_account_id, pointer="#")
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
) -> PlannedTransaction:
    """Save patches of validated columns and record them in the audit log, where anything differs.

    Raises:
        OccurrenceSettled, SettlesTooMuch: what is settled does not fit any more.
    """
    before = {day: get_occurrence_patch(planned, day) for day in (*patches, *removed) if day in planned.overrides}
    if store_override_rows(planned, patches, removed=removed):
        check_settled_occurrences(planned)
        recompute_settled_amounts(change.company.id, [planned.id])
        planned.mark_updated(change.context)
        after = {day: get_occurrence_patch(planned, day) for day in patches if day in planned.overrides}
        change.record(
            planned, f"{planned.entity_type}.overridden", before=to_iso_keys(before), after=to_iso_keys(after)
        )
    return planned


def build_patch_columns(checks: BodyChecks, patch: Mapping[str, Any], *, currency: str, pointer: str) -> dict[str, Any]:
    """Return a patch as columns: amounts as Decimal, ids collected for the reference check."""
    columns = dict(patch)
    if patch.get("amount_value") is not None:
        columns["amount_value"] = checks.parse_amount(patch["amount_value"], currency, f"{pointer}/amountValue")
    checks.add_reference(Account, patch.get("account_id"), f"{pointer}/accountId")
    checks.add_reference(Category, patch.get("category_id"), f"{pointer}/categoryId")
    return columns


def check_transfer_patch(
    checks: BodyChecks, patch: Mapping[str, Any], *, transfer_account_id: UUID | None, pointer: str
) -> None:
    """Check that an occurrence of a transfer has no category and two accounts; without an account, it is none."""
    if transfer_account_id is None:
        return
    if patch.get("category_id") is not None:
        checks.add_error(f"{pointer}/categoryId", "contradicting_fields", _("A transfer has no category."))
    if patch.get("account_id") == transfer_account_id:
        checks.add_error(f"{pointer}/accountId", "same_account", _("Choose two different accounts."))


def store_override_rows(planned: PlannedTransaction, patches: Patches, *, removed: set[dt.date]) -> bool:
    """Write the patches that differ from the stored ones; return whether any did."""
    stored_patches = {day: row.to_patch() for day, row in planned.overrides.items()}
    changed = {day: patch for day, patch in patches.items() if stored_patches.get(day, {}) != patch}
    replaced_dates = {day for day in (removed | set(changed)) if day in planned.overrides}
    if not changed and not replaced_dates:
        return False
    rows = PlannedOverride.objects.for_company(planned.company_id).filter(planned=planned.id)
    rows.filter(original_date__in=replaced_dates).delete()
    new_rows = [
        PlannedOverride(company_id=planned.company_id, planned=planned, original_date=day, **patch)
        for day, patch in changed.items()
        if patch
    ]
    PlannedOverride.objects.bulk_create(new_rows)
    kept_overrides = {day: row for day, row in planned.overrides.items() if day not in replaced_dates}
    planned.overrides = dict(sorted((kept_overrides | {row.original_date: row for row in new_rows}).items()))
    return True


def to_iso_keys(patches: Mapping[dt.date, Any]) -> dict[str, Any]:
    """Return the patches with ISO dates as keys."""
    return {day.isoformat(): patch for day, patch in patches.items()}
