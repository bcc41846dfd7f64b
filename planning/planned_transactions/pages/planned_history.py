"""The history of a planned transaction or invoice in sentences, and the files it was made from."""

from datetime import datetime
from decimal import Decimal
from typing import Any, NamedTuple

from django.utils.translation import gettext as _

from companies.audit.action_labels import format_action
from companies.audit.pages import find_actor_names
from companies.models import AuditEntry
from companies.pages.amount_formats import format_money
from companies.pages.context import CompanyPage
from companies.permissions import Permission
from ledger.models import File
from planning.models import InvoiceFile, PlannedTransaction

MAX_ENTRIES = 50
ENTITY_TYPES = ("invoice", "plannedTransaction")  # it may have been either


class PlannedHistoryEntry(NamedTuple):
    """A change as a sentence that starts with who made it."""

    time: datetime
    actor: str
    text: str


def list_planned_history(page: CompanyPage, planned: PlannedTransaction) -> list[PlannedHistoryEntry]:
    """Return the latest changes of a planned transaction, for users who may read the audit log."""
    if not page.has_permission(Permission.AUDIT_READ):
        return []
    entries = AuditEntry.objects.for_company(page.company.id)
    own_entries = entries.filter(entity_type__in=ENTITY_TYPES, entity_id=str(planned.id)).order_by("-time", "-id")
    rows = list(own_entries[:MAX_ENTRIES])
    sentences = [(row.time, row.actor, describe_entry(row, planned)) for row in rows]
    if planned.invoice_import is not None and len(rows) < MAX_ENTRIES:
        text = _("imported it from {file}.").format(file=planned.invoice_import.filename)
        sentences.append((planned.created_time, planned.created_user_id, text))
    actors = find_actor_names(page, {actor for _time, actor, _text in sentences if actor})
    return [PlannedHistoryEntry(time, actors.get(actor or "", _("System")), text) for time, actor, text in sentences]


def describe_entry(entry: AuditEntry, planned: PlannedTransaction) -> str:
    """Return what was done, with the amounts of settlements that were added."""
    before, after = entry.before or {}, entry.after or {}
    text = format_action(entry.action, name="", before=before, after=after)
    amounts = [
        format_money(Decimal(str(part["amount_value"])), planned.amount_currency)
        for part in find_added_parts(before.get("settlements") or {}, after.get("settlements") or {})
    ]
    return f"{text}: {', '.join(amounts)}." if amounts else f"{text}."


def find_added_parts(before: dict[str, Any], after: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the settlements and write-offs that are in the later state only."""
    return [part for day, parts in after.items() for part in parts if part not in (before.get(day) or [])]


def list_invoice_files(page: CompanyPage, planned: PlannedTransaction) -> list[File]:
    """Return the files that a receivable or payable was made from, as far as the user may see them."""
    if not page.has_permission(Permission.FILES_READ):
        return []
    links = InvoiceFile.objects.for_company(page.company.id).filter(planned=planned)
    return [link.file for link in links.select_related("file")]
