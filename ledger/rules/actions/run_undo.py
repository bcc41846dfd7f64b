"""Undo a categorization run: restore what it replaced, except where somebody changed it since."""

from collections import Counter
from datetime import date
from decimal import Decimal
from typing import Any, NamedTuple
from uuid import UUID

from companies.change import CompanyChange, change_company
from companies.models import AuditContext, Company, IdIn, parse_id
from ledger.calc.allocation import Share, SharesExceedAmount
from ledger.categorization.actions.bulk_categorization import apply_choices
from ledger.categorization.choices import (
    CategorizableTransaction,
    CategorizationChoice,
    ChoiceSplit,
    list_chosen_categorizations,
)
from ledger.models import Categorization, CategorizationRun, Category, Counterparty
from ledger.recognition.actions.postings import delete_postings
from ledger.recognition.actions.transaction_totals import recompute_totals
from ledger.recognition.service_periods import RecognitionRule
from ledger.rules.actions.auto_assign import record_rule_matches
from ledger.rules.queries.compiled_rules import parse_rule_note
from ledger.rules.queries.rule_matches import RUN_CHUNK_ROWS
from ledger.transactions.actions import bulk_undo
from ledger.transactions.actions.audit_links import link_audit_entry
from ledger.transactions.actions.bulk_undo import RunUndoResult


def undo_categorization_run(*, company: Company, context: AuditContext, run_id: UUID | str) -> RunUndoResult:
    """Undo a run where nobody has changed its categorizations since; what rules assigned before is restored.

    A bulk action by hand is undone by ``undo_run``. Raises NotFoundError, MissingRateError.
    """
    with change_company(company, context=context) as change:
        run = change.lock(CategorizationRun, run_id)
        if run.is_manual:
            return bulk_undo.undo_run(company=company, context=context, run_id=run.id)
        categorizations = Categorization.objects.for_company(company.id).filter(run=run)
        undone_counts: Counter[UUID | None] = Counter()
        transaction_ids: list[UUID] = []
        while untouched_chunk := list_untouched_categorizations(categorizations):
            undo_run_chunk(change, untouched_chunk)
            undone_counts.update(parse_rule_note(categorization.note) for categorization in untouched_chunk)
            transaction_ids += [categorization.transaction.id for categorization in untouched_chunk]
        categorizations.update(run=None, replaced=None)
        record_rule_matches(change, {rule_id: -count for rule_id, count in undone_counts.items() if rule_id})
        result = RunUndoResult(affected=undone_counts.total(), kept_count=run.affected - undone_counts.total())
        run.delete()
        after = {"affected": result.affected, "kept": result.kept_count}
        entry = change.record_bulk("transactions.runTakenBack", "categorizationRun", entity_id=run.id, after=after)
        link_audit_entry(change, entry, transaction_ids)
    return result


class UntouchedCategorization(NamedTuple):
    """What a run assigned to a transaction that nobody has changed since."""

    transaction: CategorizableTransaction
    note: str | None
    replaced: dict[str, Any] | None


def list_untouched_categorizations(categorizations: Any) -> list[UntouchedCategorization]:
    """Return what a run assigned to some thousand transactions, each once, that nobody has changed since."""
    rows = (
        categorizations.filter(transaction__categorizations_auto_assigned=True)
        .order_by("transaction_id", "position")
        .distinct("transaction_id")
        .values_list(
            *(
                f"transaction__{name}"
                for name in ("id", "date", "amount_value", "amount_currency", "transferred_value")
            ),
            *("transaction__pending", "source_note", "replaced"),
        )
    )
    return [
        UntouchedCategorization(
            CategorizableTransaction(row_id, day, amount, currency, transferred, is_counted_in_results=not pending),
            note,
            replaced,
        )
        for row_id, day, amount, currency, transferred, pending, note, replaced in rows[:RUN_CHUNK_ROWS]
    ]


def undo_run_chunk(change: CompanyChange, untouched_chunk: list[UntouchedCategorization]) -> None:
    """Restore what some thousand categorizations of a run replaced, or remove them."""
    company = change.company
    categories = dict(Category.objects.for_company(company.id).values_list("id", "pl_types"))
    counterparty_ids = {
        parse_id(categorization.replaced["counterparty_id"] or "")
        for categorization in untouched_chunk
        if categorization.replaced
    }
    known_counterparty_ids = set(
        Counterparty.objects.for_company(company.id)
        .filter(id__in=counterparty_ids - {None})
        .values_list("id", flat=True)
    )
    previous_choices = [
        (categorization, choice if choice and has_fitting_splits(categorization.transaction, choice) else None)
        for categorization in untouched_chunk
        for choice in (build_previous_choice(categorization.replaced, categories, known_counterparty_ids),)
    ]
    choices_by_run: dict[UUID | None, list[tuple[CategorizableTransaction, CategorizationChoice]]] = {}
    replaced_by_transaction: dict[UUID, dict[str, Any]] = {}  # by runs that can be taken back still
    known_run_ids = set(CategorizationRun.objects.for_company(company.id).values_list("id", flat=True))
    for categorization, choice in previous_choices:
        if choice and categorization.replaced:
            run_id = parse_id(categorization.replaced.get("run_id") or "")
            choices_by_run.setdefault(run_id if run_id in known_run_ids else None, []).append(
                (categorization.transaction, choice)
            )
            if categorization.replaced.get("replaced"):
                replaced_by_transaction[categorization.transaction.id] = categorization.replaced["replaced"]
    for run_id, choices in choices_by_run.items():
        apply_choices(
            change, choices, automatic=True, run_id=run_id, replaced=replaced_by_transaction if run_id else None
        )
    reopened_ids = [categorization.transaction.id for categorization, choice in previous_choices if choice is None]
    delete_postings(company=company, transaction_ids=reopened_ids)
    Categorization.objects.for_company(company.id).filter(IdIn("transaction_id", reopened_ids)).unlinked().delete()
    recompute_totals(change, reopened_ids)


def build_previous_choice(
    replaced: dict[str, Any] | None, categories: dict[UUID, list[str]], counterparty_ids: set[UUID]
) -> CategorizationChoice | None:
    """Return the choice before the run; None if there was none or what it refers to was deleted."""
    if replaced is None:
        return None
    category_id, counterparty_id = UUID(replaced["category_id"]), parse_id(replaced["counterparty_id"] or "")
    splits = replaced.get("splits", ())  # older runs have none
    if any(part["pl_type"] not in categories.get(UUID(part["category_id"]), ()) for part in (replaced, *splits)):
        return None
    if counterparty_id and counterparty_id not in counterparty_ids:
        return None
    rule_type, *texts = replaced["rule"]
    start, end, invoice_date = (date.fromisoformat(text) if text else None for text in texts)
    return CategorizationChoice(
        category_id,
        replaced["pl_type"],
        counterparty_id,
        RecognitionRule(rule_type, start, end, invoice_date),
        parse_stored_amount(replaced["pass_through_tax"]),
        source_note=replaced["source_note"],
        splits=tuple(
            ChoiceSplit(
                UUID(split["category_id"]),
                split["pl_type"],
                Share(None, Decimal(split["amount"])),
                parse_stored_amount(split["pass_through_tax"]),
            )
            for split in splits
        ),
    )


def has_fitting_splits(transaction: CategorizableTransaction, choice: CategorizationChoice) -> bool:
    """Whether the splits of a previous choice fit into the amount, which a bank statement may have corrected."""
    try:
        return bool(list_chosen_categorizations(transaction, choice))
    except SharesExceedAmount:
        return False


def parse_stored_amount(text: str | None) -> Decimal | None:
    """Parse an amount that a categorization stores of what it replaced."""
    return None if text is None else Decimal(text)
