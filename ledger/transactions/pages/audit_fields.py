"""What the audit log shows of transactions beside their columns: amounts by category, and the legs of transfers."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any
from uuid import UUID

from django.urls import reverse
from django.utils.translation import gettext as _

from companies.audit.changes import FieldChange, ValueFormatter
from companies.audit.field_labels import get_code_label, get_field_label
from companies.audit.names import AuditNames, is_entity_hidden
from companies.locales import get_current_locale
from companies.models import AuditEntry
from companies.pages.amount_formats import format_money
from companies.pages.context import CompanyPage
from companies.permissions import Permission
from ledger.models import BulkOperation, Transaction
from ledger.transactions.pages.labels import HIDDEN_NAME

Fields = dict[UUID, Sequence[FieldChange]]


def list_transaction_fields(entries: Sequence[AuditEntry], names: AuditNames) -> Fields:
    """Return what entries changed of categorizations and transfers. One query for all transfers."""
    transfers = [entry for entry in entries if entry.action.startswith("transfer.")]
    ids = {leg_id for entry in transfers for leg_id in list_leg_ids(entry)}
    rows = Transaction.objects.for_company(names.page.company.id).filter(id__in=ids).select_related("account")
    legs = {str(row.id): row for row in rows}
    fields: Fields = {entry.id: list(list_transfer_fields(entry, names, legs)) for entry in transfers}
    splits = (entry for entry in entries if entry.action == "transaction.split")
    return fields | {entry.id: list(list_categorization_fields(entry, names)) for entry in splits}


def list_categorization_fields(entry: AuditEntry, names: AuditNames) -> Iterator[FieldChange]:
    """Yield the categories whose amount changed, each with its amount before and after."""
    before, after = sum_by_category(entry.before or {}), sum_by_category(entry.after or {})
    formatter = ValueFormatter(names, names.get_currency("transaction", entry.entity_id))
    for category_id in {**before, **after}:
        if before.get(category_id) != after.get(category_id):
            label = names.format_reference("category_id", category_id) or str(HIDDEN_NAME)
            texts = (formatter.format_amount(amounts.get(category_id)) for amounts in (before, after))
            yield FieldChange(label, *texts)


def sum_by_category(categorizations: Mapping[str, Any]) -> dict[str, Decimal]:
    """Return the amount of each category."""
    amounts: dict[str, Decimal] = {}
    for part in categorizations.values():
        if isinstance(part, dict):
            category_id = part["category_id"]
            amounts[category_id] = amounts.get(category_id, Decimal(0)) + Decimal(str(part["value"]))
    return amounts


def list_leg_ids(entry: AuditEntry) -> list[str]:
    """Return the transactions of a transfer that was linked or unlinked."""
    after = entry.after or {}
    return [after[side] for side in ("source", "target") if side in after] or (entry.before or {}).get("legs", [])


def list_transfer_fields(
    entry: AuditEntry, names: AuditNames, legs: Mapping[str, Transaction]
) -> Iterator[FieldChange]:
    """Yield the legs of a transfer: the account, with the day and the amount before or after."""
    for leg_id in list_leg_ids(entry):
        leg, label, text = legs.get(leg_id), _("Transaction"), _("Deleted")
        if leg:
            label = str(HIDDEN_NAME) if is_entity_hidden(names.page, "account") else leg.account.name
            amount = format_money(leg.amount_value, leg.amount_currency)
            text = f"{get_current_locale().format_day(leg.date)}, {amount}"
        yield FieldChange(label, "", text) if entry.after else FieldChange(label, text, "")


def list_run_fields(entries: Iterable[AuditEntry], names: AuditNames) -> Fields:
    """Return which operation was undone where the entry does not have it: that of rules."""
    field = FieldChange(get_field_label("act"), "", get_code_label("act", BulkOperation.RULES.value))
    undone = (entry for entry in entries if entry.action == "transactions.runTakenBack")
    return {entry.id: [field] for entry in undone if "act" not in (entry.after or {})}


def list_counterparty_fields(entries: Iterable[AuditEntry], names: AuditNames) -> Fields:
    """Return which counterparty another was merged into."""
    merged = ((entry.id, entry.before or {}) for entry in entries if entry.action == "counterparty.merged")
    return {
        entry_id: [FieldChange(get_field_label("counterparty"), before.get("name", ""), before.get("merged_into", ""))]
        for entry_id, before in merged
    }


def build_import_link(page: CompanyPage, entry: AuditEntry) -> str:
    """Return the URL of the transactions of an import; "" if it brought none."""
    if not (entry.after or {}).get("count") or not page.has_permission(Permission.TRANSACTIONS_READ):
        return ""
    return f"{reverse('transactions', args=[page.company.id])}?importId={entry.entity_id}"
