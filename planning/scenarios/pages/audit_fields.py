"""What the audit log page says of scenarios: their changes, and how much an adoption changed."""

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from django.utils.translation import gettext as _

from companies.audit.changes import FieldChange
from companies.audit.names import AuditNames
from companies.models import AuditEntry
from companies.pages.amount_formats import format_count
from planning.scenarios.pages.change_texts import TargetNames, describe_change, describe_period, load_target_names

MAX_SHOWN_CHANGES = 5  # of an entry, removed and added ones
Stored = Mapping[str, Any]


def list_scenario_fields(entries: Sequence[AuditEntry], audit_names: AuditNames) -> dict[UUID, Sequence[FieldChange]]:
    """Return by id of the entry the changes that it removed and added, and what an adoption changed."""
    changes = {entry.id: compare_changes(entry) for entry in entries}
    names = load_target_names(
        audit_names.page, [stored for sides in changes.values() for side in sides for stored in side]
    )
    return {
        entry.id: [*list_change_fields(*changes[entry.id], names), *list_adoption_fields(entry)] for entry in entries
    }


def compare_changes(entry: AuditEntry) -> tuple[list[Stored], list[Stored]]:
    """Return the changes that an entry removed and those that it added."""
    before, after = ((side or {}).get("changes") or [] for side in (entry.before, entry.after))
    return [stored for stored in before if stored not in after], [stored for stored in after if stored not in before]


def list_change_fields(removed: Sequence[Stored], added: Sequence[Stored], names: TargetNames) -> list[FieldChange]:
    """Return removed and added changes as sentences; of many, the first and how many more."""
    label = _("plan change")
    fields = [FieldChange(label, format_change(stored, names), "") for stored in removed[:MAX_SHOWN_CHANGES]]
    fields += [
        FieldChange(label, "", format_change(stored, names)) for stored in added[: MAX_SHOWN_CHANGES - len(fields)]
    ]
    count = len(removed) + len(added) - len(fields)
    if count:
        fields.append(FieldChange(_("plan changes"), "", _("{n} more").format(n=format_count(count))))
    return fields


def format_change(stored: Stored, names: TargetNames) -> str:
    period = describe_period(stored.get("from"), stored.get("to"))
    return f"{describe_change(stored, names)} {period}".rstrip()


def list_adoption_fields(entry: AuditEntry) -> list[FieldChange]:
    """Return how many planned transactions and plan items an adoption changed, or its undo changed back."""
    adoption = (entry.after or {}).get("adoption") or (entry.before or {}).get("adoption") or {}
    changed_items = [*adoption.get("updatedItems", ()), *adoption.get("deletedItems", ())]
    counts = {
        _("planned transactions changed"): len(adoption.get("planned", ())),
        _("planned transactions added"): len(adoption.get("addedPlanned", ())),
        _("plan items changed or ended"): len(changed_items),
        _("plan items added"): len(adoption.get("createdItems", ())),
    }
    return [FieldChange(label, "", format_count(count)) for label, count in counts.items() if count]
