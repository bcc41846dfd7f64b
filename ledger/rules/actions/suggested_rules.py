"""Create many suggested rules at once, and undo it."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db.models import Max

from companies.change import CompanyChange, change_company
from companies.errors import NotFoundError
from companies.models import AuditContext, AuditEntry, Company, parse_id
from ledger.models import CategorizationRule
from ledger.rules.actions.categorization_rules import MAX_RULES, TooManyRules
from ledger.rules.actions.categorization_runs import AppliedRun, apply_rules
from ledger.rules.queries.counterparty_rules import list_counterparty_rules, list_rules_for_transactions
from ledger.rules.queries.rule_matches import OPEN_TRANSACTIONS_SELECTION
from ledger.transactions.actions.bulk_undo import AlreadyUndone

CREATED_ACTION = "categorizationRules.created"


@dataclass(frozen=True, slots=True)
class CreatedRules:
    """The rules that were created, the audit entry that undoes them, and the run that applied them, if any."""

    keys: Collection[str]
    entry_id: UUID | None
    run: AppliedRun | None


def create_suggested_rules(
    *, company: Company, context: AuditContext, keys: Collection[str], is_applied: bool
) -> CreatedRules:
    """Create the rules with these keys, after the others, as far as they are still suggested.

    Args:
        is_applied: whether all rules are applied to uncategorized transactions, as a run of its own.

    Raises TooManyRules, MissingRateError.
    """
    with change_company(company, context=context) as change:
        suggested = [each for each in list_counterparty_rules(company) if each.key in keys]
        if not suggested:
            return CreatedRules((), None, None)
        entry = insert_rules(change, [each.rule for each in suggested])
        run = (
            apply_rules(company=company, context=context, selection=OPEN_TRANSACTIONS_SELECTION) if is_applied else None
        )
    return CreatedRules([each.key for each in suggested], entry.id, run)


def create_rules_for_transactions(
    *, company: Company, context: AuditContext, transaction_ids: Collection[UUID]
) -> CreatedRules:
    """Create the rules that are suggested because of these categorized transactions. Raises TooManyRules."""
    with change_company(company, context=context) as change:
        suggested = list_rules_for_transactions(company, transaction_ids)
        if not suggested:
            return CreatedRules((), None, None)
        entry = insert_rules(change, [each.rule for each in suggested])
    return CreatedRules([each.key for each in suggested], entry.id, None)


def insert_rules(change: CompanyChange, rules: Sequence[CategorizationRule]) -> AuditEntry:
    """Insert rules after the others, and return the audit entry that undoes it. Raises TooManyRules."""
    existing = CategorizationRule.objects.for_company(change.company.id)
    if existing.count() + len(rules) > MAX_RULES:
        raise TooManyRules
    last_order = existing.aggregate(last=Max("order"))["last"]
    for order, rule in enumerate(rules, 0 if last_order is None else last_order + 1):
        rule.order = order
        rule.mark_created(change.context)
    CategorizationRule.objects.bulk_create(rules)
    after = build_audit_values([(rule.id, rule.name) for rule in rules])
    return change.record_bulk(CREATED_ACTION, "categorizationRule", after=after)


def filter_created_rules(company: Company, entry_id: UUID) -> Any:
    """Return the rules that were created at once, as far as they exist; None if there is no such audit entry."""
    entry = AuditEntry.objects.for_company(company.id).filter(id=entry_id, action=CREATED_ACTION).first()
    if entry is None:
        return None
    ids = [parse_id(text) for text in (entry.after or {}).get("rule_ids", ())]
    return CategorizationRule.objects.for_company(company.id).filter(id__in=ids)


def undo_created_rules(*, company: Company, context: AuditContext, entry_id: UUID) -> tuple[int, int]:
    """Delete the rules that were created at once; return (deleted, kept because they were changed since).

    What they categorized stays. Raises NotFoundError, and AlreadyUndone if nothing of them is left.
    """
    with change_company(company, context=context) as change:
        rules = filter_created_rules(company, entry_id)
        if rules is None:
            raise NotFoundError
        # An order that was changed since concerns all rules, and has no entry of each.
        entries = AuditEntry.objects.for_company(company.id).filter(
            entity_type="categorizationRule", entity_id__in=map(str, rules.values_list("id", flat=True))
        )
        unchanged = rules.exclude(id__in=set(entries.values_list("entity_id", flat=True))).in_display_order()
        deleted = list(unchanged.values_list("id", "name"))
        kept_count = rules.count() - len(deleted)
        if not deleted and not kept_count:
            raise AlreadyUndone
        if deleted:
            unchanged.delete()
            after = build_audit_values(deleted)
            change.record_bulk("categorizationRules.deleted", "categorizationRule", after=after)
    return len(deleted), kept_count


def build_audit_values(rules: Sequence[tuple[UUID, str]]) -> dict[str, Any]:
    """Return the count, ids and names of rules for the audit log."""
    return {
        "affected": len(rules),
        "rule_ids": [str(rule_id) for rule_id, _ in rules],
        "names": [name for _, name in rules],
    }
