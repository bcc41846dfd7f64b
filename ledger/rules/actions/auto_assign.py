"""Automatic categorization of new transactions: by the first matching rule, else by the company's history
where it is certain and enabled, else by the default category of the account.

``assign_categories`` is called by whatever creates transactions: imports, statements, manual entry, and
edits of fields that rules look at.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, NamedTuple
from uuid import UUID

from django.db.models import Exists, F, OuterRef

from companies.change import CompanyChange, change_company
from companies.models import AuditContext, Company
from ledger.bulk.planner_statistics import analyze_after_commit
from ledger.categorization.actions.bulk_categorization import (
    CategorizableTransaction,
    CategorizationChoice,
    apply_choices,
)
from ledger.models import Account, Categorization, CategorizationRule, Transaction
from ledger.recognition.actions.postings import PL_TYPES, to_pl_type_amounts
from ledger.recognition.service_periods import RecognitionRule
from ledger.rules.calc.rule_matcher import MatchInput
from ledger.rules.queries.assignability import build_assignability_check
from ledger.rules.queries.closed_choices import find_closed_choices
from ledger.rules.queries.compiled_rules import CompiledRules, load_compiled_rules, parse_rule_note
from ledger.rules.queries.history_proposals import ACCOUNT_NOTE, HISTORY_NOTE, find_certain_categories

ASSIGNMENT_CHUNK_ROWS = 20_000
MATCHED_FIELDS = {
    "from_to",
    "description",
    "amount_value",
    "amount_currency",
    "pending",
    "exclude_from_auto_categorization",
}
AMOUNT_FIELDS = {"amount_value", "amount_currency"}  # by a part that no person gave


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
    transaction = CategorizableTransaction(row_id, day, amount, currency, Decimal(0), counts_in_results=True)
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
        assign_matched_categories(change, match_rules(company, chunk, rules, defaults), result, can_assign=can_assign)
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
        verdict = rules.matcher.find_first(candidate.match_input)
        if verdict:
            yield verdict.rule_id, candidate.transaction, verdict.choice
        else:
            unmatched.append(candidate)
    certain_uses = (
        find_certain_categories(company, [candidate.transaction.id for candidate in unmatched])
        if company.auto_categorize and unmatched
        else {}
    )
    for candidate in unmatched:
        if past_categorization := certain_uses.get(candidate.transaction.id):
            yield (
                HISTORY_NOTE,
                candidate.transaction,
                CategorizationChoice(*past_categorization[:3], source_note=HISTORY_NOTE),
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
) -> None:
    """Store the choices that can be assigned, and count them by source."""
    assignable = [match for match in choices if can_assign(match[1], match[2])]
    closed_ids = find_closed_choices(change.company, [(transaction, choice) for _, transaction, choice in assignable])
    assignable = [match for match in assignable if match[1].id not in closed_ids]
    if assignable:
        apply_choices(change, [(transaction, choice) for _, transaction, choice in assignable], automatic=True)
        result.by_source.update(source for source, _, _ in assignable)


def record_rule_matches(change: CompanyChange, counts: Mapping[UUID, int]) -> None:
    """Add to the match counts of rules and set the time of the last match; counts of undone runs are negative."""
    rules = CategorizationRule.objects.for_company(change.company.id)
    for rule_id, count in counts.items():
        rules.filter(id=rule_id).update(matched_count=F("matched_count") + count, last_matched_time=change.context.time)


# ---------------------------------------------------------------------------------------------- manual entry


def categorize_created_transaction(*, company: Company, transaction: Transaction, context: AuditContext) -> None:
    """Categorize a transaction that was entered by hand."""
    with change_company(company, context=context) as change:
        assign_transaction_category(change, transaction)


def categorize_edited_transaction(
    *, company: Company, transaction: Transaction, changed: set[str], context: AuditContext
) -> None:
    """Update the automatic categorization of an edited transaction, or categorize it if it has none."""
    with change_company(company, context=context) as change:
        if transaction.categorizations_auto_assigned:
            if changed & AMOUNT_FIELDS:
                update_categorization_amount(change, transaction)
        elif changed & MATCHED_FIELDS:
            assign_transaction_category(change, transaction)


def assign_transaction_category(change: CompanyChange, transaction: Transaction) -> None:
    """Categorize one transaction and update the instance."""
    if assign_categories(change, Transaction.objects.for_company(change.company.id).filter(id=transaction.id)).count:
        transaction.categorized_value, transaction.categorizations_auto_assigned = transaction.amount_value, True


def update_categorization_amount(change: CompanyChange, transaction: Transaction) -> None:
    """Assign the new amount of the transaction to the same category. Raises MissingRateError."""
    company = change.company
    categorization = Categorization.objects.for_company(company.id).filter(transaction=transaction).get()
    rule_id = parse_rule_note(categorization.source_note)
    rule = CategorizationRule.objects.for_company(company.id).filter(id=rule_id).first() if rule_id else None
    percent = rule.pass_through_tax_percent if rule else compute_tax_percentage(categorization)
    categorizable = CategorizableTransaction(
        transaction.id,
        transaction.date,
        transaction.amount_value,
        transaction.amount_currency,
        Decimal(0),
        counts_in_results=not transaction.pending,
    )
    apply_choices(change, [(categorizable, to_categorization_choice(categorization, percent))], automatic=True)


def to_categorization_choice(categorization: Categorization, percent: Decimal | None) -> CategorizationChoice:
    """Return the choice that an automatic categorization was made from."""
    ((pl_type, _),) = to_pl_type_amounts(getattr(categorization, pl_type) for pl_type in PL_TYPES)
    return CategorizationChoice(
        category_id=categorization.category_id,
        pl_type=pl_type,
        counterparty_id=categorization.counterparty_id,
        rule=RecognitionRule(
            categorization.rule,
            categorization.rule_start_date,
            categorization.rule_end_date,
            categorization.invoice_date,
        ),
        tax_percent=percent,
        source_note=categorization.source_note,
    )


def compute_tax_percentage(categorization: Categorization) -> Decimal | None:
    """Return the tax as a percentage, where the rule that set it was deleted."""
    tax = categorization.pass_through_tax
    return 100 * tax / (categorization.value - tax) if tax and categorization.value != tax else None
