"""Apply rules to existing transactions: one categorization run that can be undone."""

from collections import Counter
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from companies.change import change_company
from companies.models import AuditContext, Company
from ledger.bulk.planner_statistics import analyze_after_commit
from ledger.categorization.actions.bulk_categorization import apply_choices
from ledger.models import CategorizationRun
from ledger.rules.actions.auto_assign import record_rule_matches
from ledger.rules.actions.chosen_counterparties import create_chosen_counterparties
from ledger.rules.queries.compiled_rules import load_compiled_rules
from ledger.rules.queries.rule_matches import AssignedCategory, iterate_rule_matches, list_counts_by_rule
from ledger.transactions.actions.audit_links import link_audit_entry
from ledger.transactions.queries.selections import select_transactions

MAX_UNDOABLE_RUNS = 5  # runs one upon the other that can all be taken back


@dataclass(slots=True)
class AppliedRun:
    """A run and how many transactions each rule categorized in it."""

    run_id: UUID
    counts: Counter[UUID | None] = field(default_factory=Counter)

    @property
    def affected(self) -> int:
        return self.counts.total()

    @property
    def by_rule(self) -> list[dict[str, Any]]:
        return list_counts_by_rule(self.counts)


def apply_rules(*, company: Company, context: AuditContext, selection: dict[str, Any]) -> AppliedRun:
    """Apply the rules to selected transactions that are uncategorized or were categorized by rules.

    Raises what ``select_transactions`` raises.
    """
    with change_company(company, context=context) as change:
        run = CategorizationRun.objects.create(
            company=company, created_time=context.time, created_user_id=context.actor
        )
        result, rules = AppliedRun(run.id), load_compiled_rules(company)
        transaction_ids: list[UUID] = []
        settled_count = 0
        for chunk in iterate_rule_matches(company, select_transactions(company, selection), rules):
            changing_matches = [match for match in chunk if match.would_change]
            if changing_matches:
                replaced = {
                    match.transaction.id: serialize_replaced_categorizations(match.assigned)
                    for match in changing_matches
                    if match.assigned
                }
                pairs = create_chosen_counterparties(
                    change, [(match.transaction, match.choice) for match in changing_matches], rules.counterparty_names
                )
                settled_count += apply_choices(change, pairs, automatic=True, run_id=run.id, replaced=replaced)
                result.counts.update(match.rule_id for match in changing_matches)
                transaction_ids += [transaction.id for transaction, _ in pairs]
        record_rule_matches(change, {rule_id: count for rule_id, count in result.counts.items() if rule_id})
        run.affected = result.affected
        run.save(update_fields=["affected"])
        analyze_after_commit("ledger_categorization", "ledger_posting", rows=result.affected, company_id=company.id)
        after = {"affected": result.affected}
        after |= {"settled_counterparties": settled_count} if settled_count else {}
        entry = change.record_bulk("transactions.rulesApplied", "categorizationRun", entity_id=run.id, after=after)
        link_audit_entry(change, entry, transaction_ids)
    return result


def serialize_replaced_categorizations(assigned: AssignedCategory) -> dict[str, Any]:
    """Return the replaced categorizations as the first new one stores them, so that the run can be undone."""
    choice = assigned.choice
    rule = choice.rule
    return {
        "run_id": str(assigned.run_id) if assigned.run_id else None,
        "replaced": limit_undo_depth(assigned.replaced, MAX_UNDOABLE_RUNS),
        "category_id": str(choice.category_id),
        "pl_type": choice.pl_type,
        "counterparty_id": str(choice.counterparty_id) if choice.counterparty_id else None,
        "rule": [rule.type, *(day.isoformat() if day else None for day in (rule.start, rule.end, rule.invoice_date))],
        "pass_through_tax": None if choice.pass_through_tax is None else str(choice.pass_through_tax),
        "source_note": choice.source_note,
        "splits": [
            {
                "category_id": str(split.category_id),
                "pl_type": split.pl_type,
                "amount": str(split.share.amount),
                "pass_through_tax": None if split.pass_through_tax is None else str(split.pass_through_tax),
            }
            for split in choice.splits
        ],
    }


def limit_undo_depth(replaced: dict[str, Any] | None, depth: int) -> dict[str, Any] | None:
    """Limit how many runs, one after the other, can be undone."""
    if replaced is None or not replaced.get("replaced"):
        return replaced
    if depth > 1:
        return replaced | {"replaced": limit_undo_depth(replaced["replaced"], depth - 1)}
    return replaced | {"replaced": None, "run_id": None}
