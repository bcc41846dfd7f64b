"""The history of a transaction in sentences: who changed what, and when."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any
from uuid import UUID

from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _

from companies.audit.action_labels import format_action
from companies.audit.field_labels import to_plain_words
from companies.audit.pages import format_short_value
from companies.locales import get_current_locale
from companies.models import AuditEntry, parse_id
from companies.models.tenancy import get_id_time
from companies.pages.amount_formats import format_count, format_money
from companies.pages.context import CompanyPage
from companies.permissions import Permission
from ledger.models import (
    AuditEntryTransaction,
    BulkOperation,
    Categorization,
    ImportBatch,
    PendingSnapshot,
    Transaction,
)
from ledger.transactions.fields import TRANSACTION_TEXTS
from ledger.transactions.pages.labels import LedgerNames, join_texts

MAX_ENTRIES = 50
MAX_CATEGORIZATIONS = 4
HIDDEN_COLUMNS = {
    "categorized_value",
    "transferred_value",
    "categorizations_auto_assigned",
    "import_batch_id",
    "provider_data",
}
TEXT_COLUMNS = tuple(text.column for text in TRANSACTION_TEXTS)
FIRST_COLUMNS = ("amount_value", "amount_currency", "date", "account_id", "from_to", "description", *TEXT_COLUMNS)
COLUMN_LABELS = {
    **{text.column: _(text.label) for text in TRANSACTION_TEXTS},
    "date": _("date"),
    "from_to": _("from / to"),
    "description": _("description"),
    "notes": _("notes"),
    "amount_value": _("amount"),
    "amount_currency": _("currency"),
    "account_id": _("account"),
    "assigned_user_id": _("assignee"),
    "external_id": _("external ID"),
    "exclude_from_auto_categorization": _("exclusion from automatic categorization"),
    "pending": _("pending"),
    "source": _("source"),
}
LINKED = _("linked it as a transfer with a deleted transaction")
OPENED = _("unlinked the transfer because the other leg was deleted")
DELETED = _("deleted it")
UNCATEGORIZED = _("removed the categories")
UNLINKED = _("unlinked the transfer")
ENTRY_TEXTS = {
    "transaction.deleted": DELETED,
    "transaction.matchAllowed": _("allowed a rejected match again"),
    "transaction.matchRefused": _("rejected a match"),
    "transfer.linked": LINKED,
    "transfer.unlinked": UNLINKED,
}
PARTNER_TEXTS = {  # for the other leg of a transfer
    "transaction.deleted": OPENED,
    "transactions.deleted": OPENED,
    "import.undone": _("unlinked the transfer because the import of the other leg was undone"),
    "transactions.uncategorized": UNCATEGORIZED,
    "transfer.linked": LINKED,
    "transfer.unlinked": UNLINKED,
}
BULK_TEXTS = {
    "transactions.rulesApplied": _("applied the rules"),
    "transactions.uncategorized": UNCATEGORIZED,
    "transactions.deleted": DELETED,
}
UNDO_TEXTS = {
    BulkOperation.RULES: _("undid the changes by rules"),
    BulkOperation.CATEGORIZE: _("undid the categorization"),
    BulkOperation.UNCATEGORIZE: _("restored the categories"),
    BulkOperation.DELETE: _("restored it"),
}
COUNT_FIELDS = ("affected", "deleted", "counters_created")  # members of a bulk audit entry that count transactions


@dataclass(frozen=True, slots=True)
class HistoryEntry:
    """A change as a sentence that starts with the name of the person."""

    time: datetime
    actor: str | None
    text: str


def list_transaction_history(
    page: CompanyPage,
    row: Transaction,
    ledger_names: LedgerNames,
    *,
    categorizations: Sequence[Categorization],
    assigner_names: Mapping[str, str],
) -> list[HistoryEntry]:
    """Return the latest changes of a transaction for users who may read the audit log; at most five statements.

    `assigner_names` names what assigned the categorizations, by source note.
    """
    if not page.has_permission(Permission.AUDIT_READ):
        return []
    company_id = page.company.id
    entries = AuditEntry.objects.for_company(company_id).filter(entity_type="transaction", entity_id=str(row.id))
    own_entries = list(entries.order_by("-time", "-id")[:MAX_ENTRIES])
    links_query = (
        AuditEntryTransaction.objects.for_company(company_id).filter(transaction_id=row.id).select_related("entry")
    )
    of_many = list(links_query.order_by("-entry__time", "-entry_id")[:MAX_ENTRIES])
    transfer_texts = describe_transfer_links(row, [*own_entries, *(record.entry for record in of_many)], ledger_names)
    history_entries = [
        HistoryEntry(
            record.time,
            record.actor,
            transfer_texts.get(record.id)
            or describe_audit_entry(record.action, record.before, record.after, row=row, ledger_names=ledger_names),
        )
        for record in own_entries
    ]
    history_entries += [
        HistoryEntry(
            record.entry.time,
            record.entry.actor,
            transfer_texts.get(record.entry_id) or describe_linked_entry(record, ledger_names),
        )
        for record in of_many
    ]
    history_entries += [
        *list_import_entries(row),
        *list_assignment_entries(row, ledger_names, categorizations, assigner_names),
    ]
    return sorted(history_entries, key=lambda each: each.time, reverse=True)[:MAX_ENTRIES]


# ---------------------------------------------------------------------------------------------- sentences


def describe_transfer_links(
    row: Transaction, entries: Sequence[AuditEntry], ledger_names: LedgerNames
) -> dict[UUID, str]:
    """Return audit entry id -> text about the other leg of a transfer, if that still exists. One statement."""
    sides = {entry.id: entry.after or {} for entry in entries if entry.action == "transfer.linked"}
    other_ids = {
        entry_id: after["target"] if after.get("source") == str(row.id) else after.get("source")
        for entry_id, after in sides.items()
    }
    legs = Transaction.objects.for_company(row.company_id).in_bulk([*other_ids.values()]) if other_ids else {}
    template = gettext("linked it as a transfer with {amount} on {account}, {day}.")
    return {
        entry_id: template.format(
            amount=format_money(leg.amount_value, leg.amount_currency),
            account=ledger_names.get_account_name(leg.account_id),
            day=get_current_locale().format_day(leg.date),
        )
        for entry_id, other_id in other_ids.items()
        if (leg := legs.get(UUID(other_id)))
    }


def list_import_entries(row: Transaction) -> Iterator[HistoryEntry]:
    """Yield the import that created the transaction, and the one that booked it if it was pending before."""
    if row.import_batch_id is None:
        return
    pending_snapshot = PendingSnapshot.objects.filter(
        company_id=row.company_id, import_batch_id=row.import_batch_id, transaction_id=row.id
    ).first()
    first_batch_id = parse_id(str(pending_snapshot.facts.get("import_batch_id"))) if pending_snapshot else None
    batches = ImportBatch.objects.for_company(row.company_id).in_bulk(
        [each for each in (row.import_batch_id, first_batch_id) if each]
    )
    for batch_id, batch in batches.items():
        file = batch.filename or gettext("an import")
        template = gettext("imported it with {file}.")
        if pending_snapshot:
            booked = gettext("booked the pending transaction with {file}.")
            template = booked if batch_id == row.import_batch_id else gettext("imported it as pending with {file}.")
        yield HistoryEntry(batch.created_time, batch.created_user_id, template.format(file=file))


def list_assignment_entries(
    row: Transaction,
    ledger_names: LedgerNames,
    categorizations: Sequence[Categorization],
    assigner_names: Mapping[str, str],
) -> Iterator[HistoryEntry]:
    """Yield automatic categorizations that nobody has changed: by a rule, history or the account."""
    for categorization in categorizations if row.categorizations_auto_assigned else ():
        if assigner := assigner_names.get(categorization.source_note or ""):
            template = gettext("categorized it as {category}: {who}.")
            yield HistoryEntry(
                get_id_time(categorization.id),
                None,
                template.format(category=ledger_names.get_category_name(categorization.category_id), who=assigner),
            )


def describe_audit_entry(
    action: str,
    before: Mapping[str, Any] | None,
    after: Mapping[str, Any] | None,
    *,
    row: Transaction,
    ledger_names: LedgerNames,
) -> str:
    """Describe an audit entry of the transaction, without the name of the person; no query."""
    before, after = before or {}, after or {}
    match action:
        case "transaction.created":
            return gettext("created it: {amount}.").format(amount=format_logged_amount(after, row))
        case "transaction.updated":
            changed = sort_columns({*before, *after} - HIDDEN_COLUMNS)
            fields = [
                describe_changed_field(name, before, after, row=row, ledger_names=ledger_names) for name in changed
            ]
            return gettext("changed {fields}.").format(fields=join_texts(fields) or gettext("internal fields"))
        case "transaction.split":
            return describe_categorizations(before, after, row=row, ledger_names=ledger_names)
    return f"{ENTRY_TEXTS.get(action) or to_plain_words(action.replace('.', ' '))}."


def describe_linked_entry(link: AuditEntryTransaction, ledger_names: LedgerNames) -> str:
    """Describe an audit entry about many transactions or another record; no query."""
    action, before, after = link.entry.action, link.entry.before or {}, link.entry.after or {}
    count = sum(after.get(name) or 0 for name in COUNT_FIELDS) if action.startswith("transactions.") else 1
    description = describe_bulk_change(action, before, after, link=link, ledger_names=ledger_names)
    if action.startswith("transactions.") and count > 1:
        template = ngettext("{did}, together with {n} other.", "{did}, together with {n} others.", count - 1)
        return template.format(did=description, n=format_count(count - 1))
    return f"{description}."


def describe_bulk_change(
    action: str,
    before: Mapping[str, Any],
    after: Mapping[str, Any],
    *,
    link: AuditEntryTransaction,
    ledger_names: LedgerNames,
) -> str:
    """Describe what a bulk operation did to the transaction."""
    if link.as_partner and action in PARTNER_TEXTS:
        return str(PARTNER_TEXTS[action])
    if action == "transactions.categorized":
        return gettext("categorized it as {category}").format(
            category=format_logged_category(after, "category_id", ledger_names)
        )
    if action == "transactions.runTakenBack":
        return str(UNDO_TEXTS[BulkOperation(after.get("act") or BulkOperation.RULES)])
    if action in BULK_TEXTS:
        return str(BULK_TEXTS[action])
    return describe_related_change(action, before, after, link=link, ledger_names=ledger_names)


def describe_related_change(
    action: str,
    before: Mapping[str, Any],
    after: Mapping[str, Any],
    *,
    link: AuditEntryTransaction,
    ledger_names: LedgerNames,
) -> str:
    """Describe what a change of a related record did to the transaction."""
    match action:
        case "category.replaced":
            template = gettext("changed the category to {category} because the previous one was deleted")
            return template.format(category=format_logged_category(after, "replaced_with", ledger_names))
        case "counterparty.merged" if ledger_names.sees_counterparties:
            template = gettext("merged the counterparty “{gone}” into “{kept}”")
            return template.format(kept=before.get("merged_into"), gone=before.get("name"))
        case "plannedTransaction.settled" | "plannedTransactions.settled" | "invoice.settled" | "invoice.paid":
            return gettext("settled a planned transaction with it")
        case "plannedTransaction.unsettled" | "invoice.unsettled":
            return gettext("unlinked the planned transaction it settled")
        case "file.created":
            return gettext("added a file")
        case "file.updated":
            return describe_file_change(str(link.transaction_id), before, after)
        case "file.deleted":
            return gettext("deleted a file")
    return format_action(action, name="", before=before, after=after)


def describe_file_change(transaction_id: str, before: Mapping[str, Any], after: Mapping[str, Any]) -> str:
    """Describe a change of one of the transaction's files."""
    was_linked, is_linked = (transaction_id in (each.get("transaction_ids") or ()) for each in (before, after))
    if was_linked == is_linked:
        return gettext("changed the details of a file")
    return gettext("detached a file") if was_linked else gettext("attached a file")


def format_logged_category(after: Mapping[str, Any], name: str, ledger_names: LedgerNames) -> str:
    """Return the name of a logged category."""
    category_id = parse_id(str(after.get(name)))
    return (
        ledger_names.get_category_name(category_id)
        if category_id in ledger_names.categories
        else gettext("another category")
    )


def sort_columns(fields: set[str]) -> list[str]:
    """Sort column names: the important ones first, then by name."""
    return [name for name in FIRST_COLUMNS if name in fields] + sorted(fields - {*FIRST_COLUMNS})


def format_logged_amount(values: Mapping[str, Any], row: Transaction) -> str:
    """Format a logged amount."""
    currency = values.get("amount_currency") or row.amount_currency
    return format_money(Decimal(str(values.get("amount_value") or 0)), currency)


def describe_changed_field(
    name: str, before: Mapping[str, Any], after: Mapping[str, Any], *, row: Transaction, ledger_names: LedgerNames
) -> str:
    """Describe a changed field, such as: the amount from −€1.00 to −€2.00."""
    label = COLUMN_LABELS.get(name, to_plain_words(name))
    format_value: Callable[[Mapping[str, Any]], str] = build_value_formatter(name, row=row, ledger_names=ledger_names)
    old_text, new_text = format_value(before), format_value(after)
    if name == "assigned_user_id":
        old_text = new_text = ""
    match bool(old_text), bool(new_text):
        case True, True:
            template = gettext("the {field} from {was} to {now}")
        case True, False:
            template = gettext("the {field} from {was} to empty")
        case False, True:
            template = gettext("the {field} to {now}")
        case _:
            template = gettext("the {field}")
    return template.format(field=label, was=old_text, now=new_text)


def build_value_formatter(
    name: str, *, row: Transaction, ledger_names: LedgerNames
) -> Callable[[Mapping[str, Any]], str]:
    """Return a function that formats a column's value from one side of an audit entry."""
    if name == "amount_value":
        return lambda values: format_logged_amount(values, row)
    if name == "account_id":
        return lambda values: (
            ledger_names.get_account_name(UUID(values[name])) if parse_id(str(values.get(name))) else ""
        )
    return lambda values: quote_value(name, format_short_value(values.get(name)))


def quote_value(name: str, text: str) -> str:
    """Put a free text in quotation marks."""
    return gettext("“{text}”").format(text=text) if text and name in {"from_to", "description", *TEXT_COLUMNS} else text


def describe_categorizations(
    before: Mapping[str, Any], after: Mapping[str, Any], *, row: Transaction, ledger_names: LedgerNames
) -> str:
    """Describe a logged change of categorizations."""
    if not after:
        return f"{UNCATEGORIZED}."
    categorizations = join_texts(list(format_logged_categorizations(after, row=row, ledger_names=ledger_names)))
    template = gettext("changed the categorization to {parts}.") if before else gettext("categorized it: {parts}.")
    return template.format(parts=categorizations)


def format_logged_categorizations(
    categorizations: Mapping[str, Any], *, row: Transaction, ledger_names: LedgerNames
) -> Iterator[str]:
    """Yield logged categorizations as texts, such as: Hosting −€100.00."""
    values = list(categorizations.values())
    for categorization in values[:MAX_CATEGORIZATIONS]:
        category = format_logged_category(categorization, "category_id", ledger_names)
        yield f"{category} {format_money(Decimal(str(categorization.get('value') or 0)), row.amount_currency)}"
    if len(values) > MAX_CATEGORIZATIONS:
        more_count = len(values) - MAX_CATEGORIZATIONS
        yield gettext("{n} more").format(n=format_count(more_count))
