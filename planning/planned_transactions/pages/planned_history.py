"""The history of a planned transaction or invoice, and the files it was made from."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Any
from uuid import UUID

from django.urls import reverse

from companies.audit.changes import AuditChange, FieldChange, ValueFormatter, build_audit_changes, get_column_label
from companies.audit.field_labels import get_field_label
from companies.audit.names import AuditNames
from companies.models import AuditEntry
from companies.pages.context import CompanyPage
from companies.permissions import Permission
from ledger.models import File
from planning.models import InvoiceFile, PlannedTransaction

MAX_ENTRIES = 50
MAX_SHOWN_PAIRS = 4  # of settled planned transactions and their transactions
ENTITY_TYPES = ("invoice", "plannedTransaction")  # it may have been either


def list_planned_history(page: CompanyPage, planned: PlannedTransaction) -> list[AuditChange]:
    """Return the latest changes of a planned transaction, for users who may read the audit log."""
    if not page.has_permission(Permission.AUDIT_READ):
        return []
    entries = AuditEntry.objects.for_company(page.company.id)
    own_entries = entries.filter(entity_type__in=ENTITY_TYPES, entity_id=str(planned.id)).order_by("-time", "-id")
    rows = list(own_entries[:MAX_ENTRIES])
    if planned.invoice_import is not None and len(rows) < MAX_ENTRIES:
        rows.append(
            AuditEntry(
                time=planned.created_time,
                actor=planned.created_user_id,
                action="invoice.imported",
                entity_type="invoice",
                entity_id=str(planned.id),
                after={"filename": planned.invoice_import.filename},
            )
        )
    return [replace(change, name="") for change in build_audit_changes(page, rows)]


def list_settlement_fields(
    page: CompanyPage, entries: Iterable[AuditEntry], names: AuditNames
) -> dict[UUID, Sequence[FieldChange]]:
    """Return the settled and written-off amounts of each occurrence that entries changed, before and after."""
    return {entry.id: [*list_occurrence_fields(entry, names), *list_pair_fields(entry, names)] for entry in entries}


def list_occurrence_fields(entry: AuditEntry, names: AuditNames) -> Iterator[FieldChange]:
    before, after = ((side or {}).get("settlements") or {} for side in (entry.before, entry.after))
    formatter = build_formatter(names, entry.entity_type, entry.entity_id)
    for day in {**before, **after}:
        texts = (format_parts(formatter, side.get(day) or []) for side in (before, after))
        yield FieldChange(f"{get_field_label('settlements')}, {get_column_label(day)}", *texts)


def list_pair_fields(entry: AuditEntry, names: AuditNames) -> Iterator[FieldChange]:
    """Yield the planned transactions that a change of many settled; of many, the first."""
    for pair in (entry.after or {}).get("pairs", [])[:MAX_SHOWN_PAIRS]:
        formatter = build_formatter(names, "plannedTransaction", pair["planned_id"])
        label = names.format_reference("planned_id", pair["planned_id"])
        yield FieldChange(f"{label}, {get_column_label(pair['date'])}", "", format_parts(formatter, [pair]))


def build_formatter(names: AuditNames, kind: str, record_id: str) -> ValueFormatter:
    """Return a formatter of amounts in the currency of a planned transaction."""
    return ValueFormatter(names, getattr(names.records.get((kind, record_id)), "amount_currency", None))


def format_parts(formatter: ValueFormatter, parts: Iterable[dict[str, Any]]) -> str:
    """Format settlements and write-offs, such as: €40.00, €60.00 (Insolvent)."""
    texts = ((formatter.format_amount(Decimal(str(part["amount_value"]))), part.get("reason")) for part in parts)
    return ", ".join(f"{amount} ({reason})" if reason else amount for amount, reason in texts)


def build_invoice_import_link(page: CompanyPage, entry: AuditEntry) -> str:
    """Return the URL of an import of invoices."""
    import_id = (entry.after or {}).get("import_id")
    if not import_id or not page.has_permission(Permission.PLANNING_READ):
        return ""
    return reverse("invoice-import", args=[page.company.id, import_id])


def list_invoice_files(page: CompanyPage, planned: PlannedTransaction) -> list[File]:
    """Return the files that a receivable or payable was made from, as far as the user may see them."""
    if not page.has_permission(Permission.FILES_READ):
        return []
    links = InvoiceFile.objects.for_company(page.company.id).filter(planned=planned)
    return [link.file for link in links.select_related("file")]
