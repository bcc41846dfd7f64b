"""Transactions that rules match, what rules assigned to them before, and the preview of a run."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Any, NamedTuple
from uuid import UUID

from django.db.models import Q

from companies.models import Company
from ledger.calc.allocation import Share
from ledger.categorization.choices import (
    CategorizableTransaction,
    CategorizationChoice,
    ChoiceSplit,
    compute_pass_through_tax,
    list_chosen_categorizations,
)
from ledger.models import RULE_NOTE_PREFIX, Categorization
from ledger.recognition.actions.postings import PL_TYPES, list_amounts_by_pl_type
from ledger.recognition.service_periods import RecognitionRule
from ledger.rules.calc.rule_matcher import MatchInput
from ledger.rules.queries.assignability import build_assignability_check
from ledger.rules.queries.closed_choices import find_closed_choices
from ledger.rules.queries.compiled_rules import CompiledRules
from ledger.transactions.queries.selections import select_transactions

RUN_CHUNK_ROWS = 20_000
MAX_SAMPLE = 100
ALL_TRANSACTIONS_SELECTION = {"mode": "all", "confirm": True}
OPEN_TRANSACTIONS_SELECTION = {"mode": "filter", "filter": {"open": "true", "pending": "false"}}
TRANSACTION_COLUMNS = (
    *("id", "date", "amount_value", "amount_currency", "from_to", "description", "account_id"),
    *("pending", "exclude_from_auto_categorization", "categorizations_auto_assigned"),
    *("categorized_value", "transferred_value"),
)
ASSIGNED_COLUMNS = (
    *("category_id", "counterparty_id", "rule", "rule_start_date", "rule_end_date", "invoice_date"),
    *("pass_through_tax", "source_note", "counterparty_by_settlement"),
)


class AssignedCategory(NamedTuple):
    """What a rule assigned to a transaction; in a run also which run, and what it replaced."""

    choice: CategorizationChoice
    run_id: UUID | None
    replaced: dict[str, Any] | None


class RuleMatch(NamedTuple):
    """A transaction that a rule matches."""

    transaction: CategorizableTransaction
    rule_id: UUID | None
    choice: CategorizationChoice
    would_change: bool  # whether applying would change it
    assigned: AssignedCategory | None  # what a rule gave it before


def iterate_rule_matches(company: Company, rows: Any, rules: CompiledRules) -> Iterator[list[RuleMatch]]:
    """Yield the transactions that a rule matches, RUN_CHUNK_ROWS at a time, in the order of their ids.

    Two statements for each chunk, and a third where a rule has a counterparty condition.
    """
    rows = rows.order_by("id")
    chunk = list(rows.values_list(*TRANSACTION_COLUMNS)[:RUN_CHUNK_ROWS])
    while chunk:
        yield skip_closed_matches(company, list(find_rule_matches(company, chunk, rules)))
        if len(chunk) < RUN_CHUNK_ROWS:
            return
        chunk = list(rows.filter(id__gt=chunk[-1][0]).values_list(*TRANSACTION_COLUMNS)[:RUN_CHUNK_ROWS])


def find_rule_matches(company: Company, chunk: list[Any], rules: CompiledRules) -> Iterator[RuleMatch]:
    """Yield the matches of one chunk of transactions."""
    categorizations = Categorization.objects.for_company(company.id).filter(
        transaction__gte=chunk[0][0], transaction__lte=chunk[-1][0]
    )
    assigned_by_transaction, zero_value_ids = load_assigned_categories(categorizations)
    counterparty_ids_by_transaction = load_counterparty_ids(categorizations) if rules.needs_counterparties else {}
    can_assign = build_assignability_check(company)
    for row in chunk:
        (
            row_id,
            day,
            amount,
            currency,
            from_to,
            description,
            account_id,
            pending,
            is_excluded,
            is_auto_assigned,
            categorized,
            transferred,
        ) = row
        assigned = assigned_by_transaction.get(row_id) if is_auto_assigned else None
        counterparty_ids = (
            frozenset() if is_auto_assigned else counterparty_ids_by_transaction.get(row_id, frozenset())
        )  # of what rules gave, they are no reason
        assignment = rules.find_first(
            MatchInput(from_to, description, amount, currency, account_id, counterparty_ids), day
        )
        if assignment is None:
            continue
        transaction = CategorizableTransaction(
            row_id, day, amount, currency, transferred, is_counted_in_results=not pending
        )
        is_uncategorized = categorized == transferred == 0 != amount and row_id not in zero_value_ids
        would_change = (
            (is_uncategorized or assigned is not None)
            and not (pending or is_excluded)
            and can_assign(transaction, assignment.choice)
            and (assigned is None or is_different_choice(transaction, assigned.choice, assignment.choice))
        )
        yield RuleMatch(transaction, assignment.rule_id, assignment.choice, would_change, assigned)


def skip_closed_matches(company: Company, matches: list[RuleMatch]) -> list[RuleMatch]:
    """Return the matches; those that would change what is recognized in a closed month would change nothing."""
    choices = [(match.transaction, match.choice) for match in matches if match.would_change]
    closed_ids = find_closed_choices(company, choices)
    return [
        RuleMatch(*match[:3], match.would_change and match.transaction.id not in closed_ids, match.assigned)
        for match in matches
    ]


class AssignedPart(NamedTuple):
    """A categorization that a rule assigned."""

    position: int
    value: Decimal
    run_id: UUID | None
    replaced: dict[str, Any] | None
    choice: CategorizationChoice


def load_assigned_categories(categorizations: Any) -> tuple[dict[UUID, AssignedCategory], set[UUID]]:
    """Return (what rules assigned, by transaction; transactions whose categorizations have the value 0)."""
    automatic_or_empty = categorizations.filter(Q(source_note__startswith=RULE_NOTE_PREFIX) | Q(value=0))
    parts_by_transaction: dict[UUID, list[AssignedPart]] = {}
    zero_value_ids = set()
    columns = ("transaction_id", "position", "value", "run_id", "replaced", *ASSIGNED_COLUMNS, *PL_TYPES)
    for row_id, position, value, run_id, replaced, *rest in automatic_or_empty.values_list(*columns):
        *columns_of_choice, tax, note, is_settled = rest[: len(ASSIGNED_COLUMNS)]
        amounts = list_amounts_by_pl_type(rest[len(ASSIGNED_COLUMNS) :])
        if note and note.startswith(RULE_NOTE_PREFIX) and len(amounts) == 1:
            category_id, counterparty_id, *dates = columns_of_choice
            given_id = None if is_settled else counterparty_id  # that of a settlement is no choice of the rule
            choice = CategorizationChoice(
                category_id, amounts[0][0], given_id, RecognitionRule(*dates), tax, source_note=note
            )
            part = AssignedPart(position, value, run_id, replaced, choice)
            parts_by_transaction.setdefault(row_id, []).append(part)
        if not value:
            zero_value_ids.add(row_id)
    return {row_id: build_assigned_category(parts) for row_id, parts in parts_by_transaction.items()}, zero_value_ids


def build_assigned_category(parts: list[AssignedPart]) -> AssignedCategory:
    """Return what a rule assigned in one or several categorizations of a transaction, with fixed amounts."""
    if len(parts) == 1:
        return AssignedCategory(parts[0].choice, parts[0].run_id, parts[0].replaced)
    first, *other_parts = sorted(parts, key=lambda part: part.position)
    splits = tuple(
        ChoiceSplit(
            part.choice.category_id,
            part.choice.pl_type,
            Share(None, abs(part.value)),
            part.choice.pass_through_tax,
        )
        for part in other_parts
    )
    return AssignedCategory(replace(first.choice, splits=splits), first.run_id, first.replaced)


def load_counterparty_ids(categorizations: Any) -> dict[UUID, frozenset[object]]:
    """Return the counterparties of the categorizations by transaction."""
    ids_by_transaction: dict[UUID, set[object]] = {}
    for row_id, counterparty_id in categorizations.filter(counterparty__isnull=False).values_list(
        "transaction_id", "counterparty_id"
    ):
        ids_by_transaction.setdefault(row_id, set()).add(counterparty_id)
    return {row_id: frozenset(ids) for row_id, ids in ids_by_transaction.items()}


def is_different_choice(
    transaction: CategorizableTransaction, current_choice: CategorizationChoice, new_choice: CategorizationChoice
) -> bool:
    """Whether the rule would assign something else than what is assigned now."""
    outcomes = [
        [
            (
                part.choice.category_id,
                part.choice.pl_type,
                part.choice.counterparty_id,
                part.choice.new_counterparty,
                part.choice.rule,
                part.choice.source_note,
                compute_pass_through_tax(part) or 0,
                part.amount,
            )
            for part in list_chosen_categorizations(transaction, choice)
        ]
        for choice in (current_choice, new_choice)
    ]
    return outcomes[0] != outcomes[1]


@dataclass(slots=True)
class RulePreview:
    """What rules match, and what applying them would change."""

    matched: int = 0
    changed: int = 0
    counts: Counter[UUID | None] = field(default_factory=Counter)  # of the matched, by rule
    sample: list[dict[str, Any]] = field(default_factory=list)  # of those that would change

    @property
    def by_rule(self) -> list[dict[str, Any]]:
        return list_counts_by_rule(self.counts)


def list_counts_by_rule(counts: Counter[UUID | None]) -> list[dict[str, Any]]:
    """Return counts by rule, the highest first."""
    return [{"rule_id": rule_id, "count": count} for rule_id, count in counts.most_common()]


def preview_rules(*, company: Company, rules: CompiledRules, selection: dict[str, Any] | None = None) -> RulePreview:
    """Return what rules would do to a selection, or to all transactions; stores nothing.

    Raises what ``select_transactions`` raises; no confirmation is needed.
    """
    effective_selection = ALL_TRANSACTIONS_SELECTION if selection is None else selection | {"confirm": True}
    result = RulePreview()
    for chunk in iterate_rule_matches(company, select_transactions(company, effective_selection), rules):
        result.matched += len(chunk)
        result.counts.update(match.rule_id for match in chunk)
        changing_matches = [match for match in chunk if match.would_change]
        result.changed += len(changing_matches)
        result.sample += [build_rule_sample(match) for match in changing_matches[: MAX_SAMPLE - len(result.sample)]]
    return result


def build_rule_sample(match: RuleMatch) -> dict[str, Any]:
    """Return an example of what would change, with the category of its first categorization."""
    first_part = list_chosen_categorizations(match.transaction, match.choice)[0]
    return {
        "transaction_id": match.transaction.id,
        "rule_id": match.rule_id,
        "category_id": first_part.choice.category_id,
    }
