"""What the audit log shows of transactions beside their columns: categorizations, and the legs of transfers."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any
from uuid import UUID

from django.urls import reverse
from django.utils.text import capfirst
from django.utils.translation import gettext as _

from companies.audit.changes import FieldChange, ValueFormatter
from companies.audit.field_labels import get_code_label, get_field_label
from companies.audit.names import AuditNames, is_entity_hidden
from companies.locales import get_current_locale
from companies.models import AuditEntry
from companies.pages.amount_formats import format_money
from companies.pages.context import CompanyPage
from companies.permissions import Permission
from ledger.calc.recognition import DateRule
from ledger.models import RULE_NOTE_PREFIX, BulkOperation, PlType, Transaction
from ledger.transactions.pages.labels import ASSIGNER_LABELS, DATE_RULE_LABELS, HIDDEN_NAME

Fields = dict[UUID, Sequence[FieldChange]]
CATEGORIZATION_FIELDS = {  # column of a categorization in an entry → field that labels it
    "pl_split": "pl_type",
    "pass_through_tax": "pass_through_tax",
    "counterparty_id": "counterparty",
    "rule": "rule",
    "rule_start_date": "service_start_date",
    "rule_end_date": "service_end_date",
    "invoice_date": "invoice_date",
    "source_note": "source_note",
}


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
    """Yield what changed of the categorizations, by category: the amount first, then the other fields."""
    before, after = group_by_category(entry.before or {}), group_by_category(entry.after or {})
    formatter = ValueFormatter(names, names.get_currency("transaction", entry.entity_id))
    for category_id in {**before, **after}:
        sides = before.get(category_id, []), after.get(category_id, [])
        category = names.format_reference("category_id", category_id) or str(HIDDEN_NAME)
        amounts = [formatter.format_amount(sum_amounts(parts)) for parts in sides]
        if amounts[0] != amounts[1]:
            yield FieldChange(category, *amounts)
        for column, field in CATEGORIZATION_FIELDS.items():
            texts = [format_categorization_values(formatter, column, parts) for parts in sides]
            is_default = not all(sides) and str(DATE_RULE_LABELS[DateRule.TRANSACTION_DATE]) in texts
            if texts[0] != texts[1] and not is_default:
                yield FieldChange(f"{category} — {capfirst(get_field_label(field))}", *texts)


def group_by_category(categorizations: Mapping[str, Any]) -> dict[str, list[dict[str, Any]]]:
    """Return the stored categorizations of each category."""
    groups: dict[str, list[dict[str, Any]]] = {}
    for part in categorizations.values():
        if isinstance(part, dict):
            groups.setdefault(part["category_id"], []).append(part)
    return groups


def sum_amounts(parts: Sequence[Mapping[str, Any]]) -> Decimal | None:
    """Return the amount of categorizations; None without any."""
    return sum((Decimal(str(part["value"])) for part in parts), Decimal(0)) if parts else None


def format_categorization_values(formatter: ValueFormatter, column: str, parts: Sequence[Mapping[str, Any]]) -> str:
    """Format a field of the categorizations of a category; entries of earlier versions do not have all fields."""
    values = [part[column] for part in parts if part.get(column) is not None]
    match column:
        case "pl_split":
            texts = list_line_texts(formatter, values)
        case "pass_through_tax":
            texts = [formatter.format_amount(Decimal(value)) for value in values]
        case "source_note":  # those of automatic categorizations are codes
            texts = [note for note in values if note not in ASSIGNER_LABELS and not note.startswith(RULE_NOTE_PREFIX)]
        case _:
            texts = [formatter.format_short(column, value) for value in values]
    return ", ".join(filter(None, texts))


def list_line_texts(formatter: ValueFormatter, splits: Iterable[Mapping[str, str]]) -> list[str]:
    """Return the P&L lines with their amounts; one alone has the amount of its category."""
    lines = [
        (formatter.format_value("pl_type", line), split[line])
        for split in splits
        for line in PlType.values
        if line in split
    ]
    if len(lines) == 1:
        return [lines[0][0]]
    return [f"{line} {formatter.format_amount(Decimal(value))}" for line, value in lines]


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
