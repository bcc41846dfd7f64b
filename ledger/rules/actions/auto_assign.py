"""Automatic categorization of new transactions: by the first matching rule, else by the company's history
where it is certain and enabled, else by the default category of the account.

``assign_categories`` is called by whatever creates transactions: imports, statements, manual entry, and
edits of fields that rules look at (``edited_transactions``).
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, NamedTuple
from uuid import UUID

from django.db.models import Exists, F, OuterRef

from companies.change import CompanyChange
from companies.models import Company
from ledger.bulk.planner_statistics import analyze_after_commit
from ledger.categorization.actions.bulk_categorization import apply_choices
from ledger.categorization.choices import CategorizableTransaction, CategorizationChoice
from ledger.models import Account, Categorization, CategorizationRule
from ledger.rules.actions.chosen_counterparties import create_chosen_counterparties
from ledger.rules.calc.rule_matcher import MatchInput
from ledger.rules.queries.assignability import build_assignability_check
from ledger.rules.queries.closed_choices import find_closed_choices
from ledger.rules.queries.compiled_rules import CompiledRules, load_compiled_rules
from ledger.rules.queries.counterparty_names import CounterpartyNames
from ledger.rules.queries.history_proposals import find_certain_categories
from ledger.rules.queries.history_statements import ACCOUNT_NOTE, HISTORY_NOTE
from ledger.rules.queries.usual_taxes import find_usual_tax_percentages

ASSIGNMENT_CHUNK_ROWS = 20_000


class UnassignedTransaction(NamedTuple):
    """An uncategorized transaction with what rules match and what categorization needs."""

    transaction: CategorizableTransaction
    match_input: MatchInput


MATCH_COLUMNS = ("id", "date", "amount_value", "amount_currency", "from_to", "description", "account_id")


def filter_unassigned_transactions(rows: Any) -> Any:
    """Return the transactions without any categorization that rules may categorize."""
    own = {"company_id": OuterRef("company_id"), "transaction_id": OuterRef("id")}
    return rows.auto_categorizable().filter(~Exists(Categorization.objects.filter(**own)))


def iterate_unassigned_chunks(rows: Any) -> Iterator[list[UnassignedTransaction]]:
    """Yield uncategorized transactions in the order of their ids, ASSIGNMENT_CHUNK_ROWS at a time."""
    rows = rows.order_by("id")
    chunk = list(rows.values_list(*MATCH_COLUMNS)[:ASSIGNMENT_CHUNK_ROWS])
    while chunk:
        yield [build_unassigned_transaction(*row) for row in chunk]
        if len(chunk) < ASSIGNMENT_CHUNK_ROWS:
            return
        chunk = list(rows.filter(id__gt=chunk[-1][0]).values_list(*MATCH_COLUMNS)[:ASSIGNMENT_CHUNK_ROWS])


def build_unassigned_transaction(
    row_id: UUID, day: Any, amount: Decimal, currency: str, from_to: str, description: str, account_id: UUID
) -> UnassignedTransaction:
    """Return an uncategorized transaction from its columns."""
    transaction = CategorizableTransaction(row_id, day, amount, currency, Decimal(0), is_counted_in_results=True)
    return UnassignedTransaction(transaction, MatchInput(from_to, description, amount, currency, account_id))


@dataclass(slots=True)
class AssignmentResult:
    """How many transactions were categorized, by rule id, or by `history` and `account`."""

    by_source: Counter[Any] = field(default_factory=Counter)

    @property
    def count(self) -> int:
        return self.by_source.total()

    def to_audit_values(self) -> dict[str, Any]:
        """Return the counts for the audit entry; empty if nothing was assigned."""
        return {"assigned": {str(source): n for source, n in self.by_source.items()}} if self.count else {}


def assign_categories(change: CompanyChange, rows: Any) -> AssignmentResult:
    """Categorize the uncategorized ones among new transactions by rules, history and accounts; the caller logs it.

    A constant number of statements for some thousand rows, and two where no source is configured.

    Args:
        rows: a queryset of transactions of the company.
    """
    company, result = change.company, AssignmentResult()
    rules, defaults = load_compiled_rules(company), load_account_default_choices(company)
    if not (rules or defaults or company.auto_categorize):
        return result
    can_assign = build_assignability_check(company)
    for chunk in iterate_unassigned_chunks(filter_unassigned_transactions(rows)):
        assign_matched_categories(
            change,
            match_rules(company, chunk, rules, defaults),
            result,
            can_assign=can_assign,
            counterparty_names=rules.counterparty_names,
        )
    if result.count:
        record_rule_matches(
            change, {rule_id: n for rule_id, n in result.by_source.items() if isinstance(rule_id, UUID)}
        )
        analyze_after_commit("ledger_categorization", "ledger_posting", rows=result.count, company_id=company.id)
    return result


def match_rules(
    company: Company,
    chunk: list[UnassignedTransaction],
    rules: CompiledRules,
    defaults: Mapping[UUID, CategorizationChoice],
) -> Iterator[tuple[Any, CategorizableTransaction, CategorizationChoice]]:
    """Yield (source, transaction, choice) for each transaction that a rule, the history or its account categorizes."""
    unmatched = []
    for candidate in chunk:
        verdict = rules.find_first(candidate.match_input, candidate.transaction.day)
        if verdict:
            yield verdict.rule_id, candidate.transaction, verdict.choice
        else:
            unmatched.append(candidate)
    certain_uses = (
        find_certain_categories(company, [candidate.transaction.id for candidate in unmatched])
        if company.auto_categorize and unmatched
        else {}
    )
    tax_percents = find_usual_tax_percentages(
        company, [(row_id, past_categorization.choice) for row_id, past_categorization in certain_uses.items()]
    )
    for candidate in unmatched:
        if past_categorization := certain_uses.get(candidate.transaction.id):
            yield (
                HISTORY_NOTE,
                candidate.transaction,
                CategorizationChoice(
                    *past_categorization[:3],
                    tax_percent=tax_percents.get((candidate.transaction.id, past_categorization.choice)),
                    source_note=HISTORY_NOTE,
                ),
            )
        elif default_choice := defaults.get(candidate.match_input.account_id):  # type: ignore[call-overload]
            yield ACCOUNT_NOTE, candidate.transaction, default_choice


def load_account_default_choices(company: Company) -> dict[UUID, CategorizationChoice]:
    """Return the default category of accounts, with its first P&L line, by account."""
    accounts = Account.objects.for_company(company.id).filter(default_category__isnull=False)
    rows = accounts.values_list("id", "default_category_id", "default_category__pl_types")
    return {
        account_id: CategorizationChoice(category_id, pl_types[0], source_note=ACCOUNT_NOTE)
        for account_id, category_id, pl_types in rows
        if category_id
    }


def assign_matched_categories(
    change: CompanyChange,
    choices: Iterable[tuple[Any, CategorizableTransaction, CategorizationChoice]],
    result: AssignmentResult,
    *,
    can_assign: Callable[[CategorizableTransaction, CategorizationChoice], bool],
    counterparty_names: CounterpartyNames,
) -> None:
    """Store the choices that can be assigned, and count them by source."""
    assignable = [match for match in choices if can_assign(match[1], match[2])]
    closed_ids = find_closed_choices(change.company, [(transaction, choice) for _, transaction, choice in assignable])
    assignable = [match for match in assignable if match[1].id not in closed_ids]
    if assignable:
        pairs = [(transaction, choice) for _, transaction, choice in assignable]
        apply_choices(change, create_chosen_counterparties(change, pairs, counterparty_names), automatic=True)
        result.by_source.update(source for source, _, _ in assignable)


def record_rule_matches(change: CompanyChange, counts: Mapping[UUID, int]) -> None:
    """Add to the match counts of rules and set the time of the last match; counts of undone runs are negative."""
    rules = CategorizationRule.objects.for_company(change.company.id)
    for rule_id, count in counts.items():
        rules.filter(id=rule_id).update(matched_count=F("matched_count") + count, last_matched_time=change.context.time)
