"""Create, update and delete planned transactions."""

import datetime as dt
from collections.abc import Callable
from decimal import Decimal
from typing import Any
from uuid import UUID

from django.utils.translation import gettext as _

from companies.change import change_company
from companies.models import AuditContext, Company, snapshot_row
from ledger.calc.recognition import DateRule
from ledger.categorization.actions.settled_counterparties import update_settled_counterparties
from ledger.models import Account, Category, Counterparty
from ledger.transactions.actions.transactions import OccurrenceSettled
from planning.body_checks import BodyChecks
from planning.calc.recurrence import RecurrenceRule, is_occurrence
from planning.models import MONTHLY_FREQUENCIES, PlannedSource, PlannedTransaction, SettledBy, Settlement, WeekendShift
from planning.planned_transactions.actions.overrides import (
    build_patch_columns,
    check_transfer_patch,
    lock_planned_transaction,
    store_override_rows,
)
from planning.planned_transactions.actions.settlement_checks import (
    check_invoice_date,
    check_settled_occurrences,
    check_transactions_cover_settlements,
)
from planning.planned_transactions.fields import PLANNED_TEXTS
from planning.planned_transactions.settlements import recompute_settled_amounts, touch_settling_transactions

COPIED_FIELDS = (
    "name",
    "start_date",
    *(text.column for text in PLANNED_TEXTS),
    "invoice_date",
    "payment_terms",
    "service_start_date",
    "service_end_date",
)


def create_planned_transaction(
    *,
    company: Company,
    context: AuditContext,
    source: PlannedSource,
    values: dict[str, Any],
    made_from: dict[str, Any] | None = None,
) -> PlannedTransaction:
    """Create a planned transaction from the values that its serializer parsed.

    Args:
        made_from: what the audit entry names besides, such as the file with the invoice.

    Raises:
        ValidationFailed: the values do not fit together.
    """
    with change_company(company, context=context) as change:
        planned = PlannedTransaction(company=company, source=source)
        planned.overrides = {}
        columns, patches = validate_planned_transaction_values(planned, values)
        for name, value in columns.items():
            setattr(planned, name, value)
        change.insert(planned)
        store_override_rows(planned, patches, removed=set())
        change.record(planned, f"{planned.entity_type}.created", after=snapshot_row(planned) | (made_from or {}))
    return planned


def update_planned_transaction(
    *,
    company: Company,
    context: AuditContext,
    planned_id: UUID | str,
    build_values: Callable[[PlannedTransaction], dict[str, Any]],
) -> PlannedTransaction:
    """Update a planned transaction with the values that differ.

    An override of a day that no longer occurs stays, without effect.

    Args:
        build_values: returns the complete new body, given the stored planned transaction.

    Raises:
        NotFoundError, PreconditionFailed: it is gone or has another version.
        ValidationFailed: the values do not fit together.
        OccurrenceSettled, SettlesTooMuch: what is settled does not fit any more.
    """
    with change_company(company, context=context, closed_pointers=("#/invoiceDate",)) as change:
        planned = lock_planned_transaction(change, planned_id)
        columns, patches = validate_planned_transaction_values(planned, build_values(planned))
        previous_state = build_planned_audit_state(planned)
        if columns["amount_currency"] != planned.amount_currency and has_settlements(planned):
            raise OccurrenceSettled
        invoice_date_changed = columns["invoice_date"] != planned.invoice_date
        transaction_ids = list_settling_transaction_ids(planned) if invoice_date_changed else []
        counterparty_changed = columns["counterparty_id"] != planned.counterparty_id
        changed = planned.apply_changes(context, **columns)
        removed = set(planned.overrides) - set(patches)
        if store_override_rows(planned, patches, removed=removed) and not changed:
            planned.mark_updated(context)
        check_settled_occurrences(planned)
        if invoice_date_changed and planned.invoice_date is not None:
            check_invoice_date(planned)
        recompute_settled_amounts(company.id, [planned.id])
        touch_settling_transactions(change, transaction_ids, periods_changed=True)
        if counterparty_changed:
            update_settled_counterparties(change, list_settling_transaction_ids(planned))
        current_state = build_planned_audit_state(planned)
        if previous_state != current_state:
            change.record(planned, f"{planned.entity_type}.updated", before=previous_state, after=current_state)
    return planned


def delete_planned_transaction(
    *, company: Company, context: AuditContext, planned_id: UUID | str
) -> PlannedTransaction:
    """Delete a planned transaction with its overrides and settlements.

    Raises:
        NotFoundError, PreconditionFailed: it is gone or has another version.
        SettlesTooMuch: a payment of other invoices needs this credit note.
    """
    with change_company(company, context=context) as change:
        planned = lock_planned_transaction(change, planned_id)
        transaction_ids = list_settling_transaction_ids(planned)
        change.delete(planned, f"{planned.entity_type}.deleted", before=build_planned_audit_state(planned))
        check_transactions_cover_settlements(company.id, transaction_ids)
        touch_settling_transactions(change, transaction_ids, periods_changed=planned.invoice_date is not None)
    return planned


def list_settling_transaction_ids(planned: PlannedTransaction) -> list[UUID]:
    """Return the transactions that settle its occurrences."""
    rows = Settlement.objects.for_company(planned.company_id).filter(planned=planned.id, transaction__isnull=False)
    return [each for each in rows.order_by().values_list("transaction_id", flat=True).distinct() if each]


def has_settlements(planned: PlannedTransaction) -> bool:
    return Settlement.objects.for_company(planned.company_id).filter(planned=planned.id).exists()


def build_planned_audit_state(planned: PlannedTransaction) -> dict[str, Any]:
    """Return its columns and overrides for the audit log."""
    overrides = {day.isoformat(): dict(row.to_patch()) for day, row in planned.overrides.items()}
    return {**snapshot_row(planned), "overrides": overrides}


# ---------------------------------------------------------------------------------------------- from body to columns


def validate_planned_transaction_values(
    planned: PlannedTransaction, values: dict[str, Any]
) -> tuple[dict[str, Any], dict[dt.date, Any]]:
    """Validate a complete body; return (columns, override columns by original date).

    Raises:
        ValidationFailed: with every mistake of the body.
    """
    checks = BodyChecks(planned.company)
    currency = values.get("amount_currency") or get_default_currency(planned.company, values["account_id"])
    amount = checks.parse_amount(values["amount_value"], currency, "#/amountValue")
    checks.add_reference(Account, values["account_id"], "#/accountId")
    check_transfer(checks, values)
    checks.add_reference(Category, values.get("category_id"), "#/categoryId")
    start, end = values.get("service_start_date"), values.get("service_end_date")
    if start and end and end < start:
        checks.add_error("#/serviceEndDate", "period_not_in_order", _("Must not be before serviceStartDate."))
    settled_by = values.get("settled_by", SettledBy.TRANSACTION)
    if settled_by == SettledBy.CATEGORY and values.get("category_id") is None:
        checks.add_error("#/categoryId", "required", _("A monthly total needs a category."))
    recurrence = build_recurrence_columns(checks, values.get("recurrence"), values["start_date"])
    columns = {
        **{name: values.get(name) for name in COPIED_FIELDS},
        "auto_settle": values.get("auto_settle", True),
        "settled_by": settled_by,
        "weekend_shift": values.get("weekend_shift", WeekendShift.NONE),
        "account_id": values["account_id"],
        "transfer_account_id": values.get("transfer_account_id"),
        "amount_currency": currency,
        "amount_value": amount,
        "pass_through_tax_amount": validate_tax_amount(checks, values.get("pass_through_tax_amount"), amount, currency),
        "category_id": values.get("category_id"),
        "counterparty_id": validate_counterparty(checks, values.get("counterparty")),
        "external_data": serialize_external_data(values.get("external_data")),
        **build_date_rule_columns(values.get("using_date_rule") or {"type": DateRule.TRANSACTION_DATE}),
        **recurrence,
    }
    patches = {
        day: build_patch_columns(checks, patch, currency=currency, pointer=f"#/overrides/{day}")
        for day, patch in values.get("overrides", {}).items()
    }
    checks.raise_if_invalid()
    reject_stray_overrides(checks, planned, build_recurrence_rule(columns), patches)
    return columns, patches


def check_transfer(checks: BodyChecks, values: dict[str, Any]) -> None:
    """Check that a transfer has two accounts and nothing that only payments have."""
    transfer_account_id = values.get("transfer_account_id")
    if transfer_account_id is None:
        return
    checks.add_reference(Account, transfer_account_id, "#/transferAccountId")
    if values["account_id"] is None:
        checks.add_error("#/accountId", "required", _("A transfer needs an account."))
    elif values["account_id"] == transfer_account_id:
        checks.add_error("#/transferAccountId", "same_account", _("Choose two different accounts."))
    message = _("A transfer has no category or invoice date.")
    for name, pointer in (("category_id", "#/categoryId"), ("invoice_date", "#/invoiceDate")):
        if values.get(name) is not None:
            checks.add_error(pointer, "contradicting_fields", message)
    for day, patch in values.get("overrides", {}).items():
        pointer = f"#/overrides/{day}"
        check_transfer_patch(checks, patch, transfer_account_id=transfer_account_id, pointer=pointer)
    if values.get("settled_by") == SettledBy.CATEGORY:
        checks.add_error("#/settledBy", "contradicting_fields", _("One transaction settles a transfer."))


def get_default_currency(company: Company, account_id: UUID | None) -> str:
    """Return the account's currency, or the company's. An unknown account is reported elsewhere."""
    if account_id is None:
        return company.base_currency
    accounts = Account.objects.for_company(company.id).filter(id=account_id)
    return accounts.values_list("default_currency", flat=True).first() or company.base_currency


def validate_tax_amount(checks: BodyChecks, text: str | None, amount: Decimal, currency: str) -> Decimal | None:
    """Parse the tax contained in the amount; it must have the amount's sign and not exceed it."""
    if text is None:
        return None
    tax = checks.parse_amount(text, currency, "#/passThroughTaxAmount")
    if abs(tax) > abs(amount) or tax * amount < 0:
        checks.add_error(
            "#/passThroughTaxAmount",
            "tax_exceeds_amount",
            _("Must have the same sign as the amount and must not exceed it."),
        )
    return tax


def validate_counterparty(checks: BodyChecks, counterparty: dict[str, Any] | None) -> UUID | None:
    """Check that the counterparty exists and has the given type; return its id."""
    if counterparty is None:
        return None
    checks.add_reference(Counterparty, counterparty["id"], "#/counterparty/id")
    stored_type = (
        Counterparty.objects.for_company(checks.company.id)
        .filter(id=counterparty["id"])
        .values_list("type", flat=True)
        .first()
    )
    if stored_type is not None and counterparty.get("type") not in (None, stored_type):
        checks.add_error(
            "#/counterparty/type", "wrong_type", _("The type of the counterparty is {type}.").format(type=stored_type)
        )
    return counterparty["id"]


def build_date_rule_columns(rule: dict[str, Any]) -> dict[str, Any]:
    return {
        "rule": rule["type"],
        "rule_start_date": rule.get("start_date"),
        "rule_end_date": rule.get("end_date"),
        "rule_invoice_date": rule.get("invoice_date"),
    }


def build_recurrence_columns(checks: BodyChecks, recurrence: dict[str, Any] | None, start: dt.date) -> dict[str, Any]:
    """Return the columns of a recurrence, which is None for a single occurrence; add its errors."""
    if recurrence is None:
        once = {"frequency": None, "interval": 1, "last_day_of_month": False}
        return {**once, "end_date": None, "end_count": None}
    if recurrence["last_day_of_month"] and recurrence["frequency"] not in MONTHLY_FREQUENCIES:
        checks.add_error(
            "#/recurrence/lastDayOfMonth",
            "last_day_needs_months",
            _("Only monthly and yearly recurrences can use the last day of the month."),
        )
    end = recurrence.get("end") or {"type": "never"}
    for name in ("date", "count"):
        if end["type"] == name and end.get(name) is None:
            message = _("An end of type {name} needs a {name}.").format(name=name)
            checks.add_error(f"#/recurrence/end/{name}", "required", message)
        if end["type"] != name and end.get(name) is not None:
            contradiction = _("Omit this field: the end is of type {name}.").format(name=end["type"])
            checks.add_error(f"#/recurrence/end/{name}", "contradicts_end_type", contradiction)
    if end.get("date") is not None and end["date"] < start:
        checks.add_error("#/recurrence/end/date", "end_before_start", _("The recurrence ends before it starts."))
    return {
        "frequency": recurrence["frequency"],
        "interval": recurrence["interval"],
        "last_day_of_month": recurrence["last_day_of_month"],
        "end_date": end.get("date"),
        "end_count": end.get("count"),
    }


def build_recurrence_rule(columns: dict[str, Any]) -> RecurrenceRule:
    """Return the recurrence of validated columns."""
    return RecurrenceRule(
        start=columns["start_date"],
        frequency=columns["frequency"],
        interval=columns["interval"],
        last_day_of_month=columns["last_day_of_month"],
        end_date=columns["end_date"],
        count=columns["end_count"],
    )


def reject_stray_overrides(
    checks: BodyChecks, planned: PlannedTransaction, rule: RecurrenceRule, patches: dict[dt.date, Any]
) -> None:
    """Reject overrides of days that do not occur, unless they are sent back as they are stored."""
    for day, patch in patches.items():
        if is_occurrence(rule, day):
            continue
        stored_override = planned.overrides.get(day)
        if stored_override is None or stored_override.to_patch() != patch:
            message = _("The planned transaction has no occurrence on this date.")
            checks.add_error(f"#/overrides/{day}", "not_an_occurrence", message)
    checks.raise_if_invalid()


def serialize_external_data(values: dict[str, Any] | None) -> dict[str, Any] | None:
    """Return the external data as it is stored: dates as text."""
    if values is None:
        return None
    return {name: value.isoformat() if isinstance(value, dt.date) else value for name, value in values.items()}
