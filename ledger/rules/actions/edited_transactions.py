"""Automatic categorization of transactions that a person enters or edits."""

from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal
from uuid import UUID

from companies.change import CompanyChange, change_company
from companies.models import AuditContext, Company
from ledger.calc.allocation import Share, SharesExceedAmount
from ledger.calc.recognition import DateRule
from ledger.categorization.actions.bulk_categorization import apply_choices
from ledger.categorization.actions.uncategorization import UncategorizationResult, uncategorize_chunk
from ledger.categorization.choices import CategorizableTransaction, CategorizationChoice, ChoiceSplit
from ledger.models import Categorization, CategorizationRule, Transaction
from ledger.money.calc.money import MONEY_CONTEXT
from ledger.recognition.actions.postings import PL_TYPES, list_amounts_by_pl_type
from ledger.recognition.service_periods import RecognitionRule
from ledger.rules.actions.auto_assign import assign_categories
from ledger.rules.queries.compiled_rules import build_service_period_rule, parse_rule_note, to_rule_choice

MATCHED_FIELDS = {
    "from_to",
    "description",
    "amount_value",
    "amount_currency",
    "pending",
    "exclude_from_auto_categorization",
}
AMOUNT_FIELDS = {"amount_value", "amount_currency"}  # by a part that no person gave


def categorize_created_transaction(*, company: Company, transaction: Transaction, context: AuditContext) -> None:
    """Categorize a transaction that was entered by hand."""
    with change_company(company, context=context) as change:
        assign_transaction_category(change, transaction)


def categorize_edited_transaction(
    *, company: Company, transaction: Transaction, changed: set[str], context: AuditContext
) -> None:
    """Update the automatic categorizations of an edited transaction, or categorize it if it has none."""
    with change_company(company, context=context) as change:
        if transaction.categorizations_auto_assigned:
            if changed & {*AMOUNT_FIELDS, "date"}:
                update_automatic_categorizations(change, transaction, changed)
        elif changed & MATCHED_FIELDS:
            assign_transaction_category(change, transaction)


def assign_transaction_category(change: CompanyChange, transaction: Transaction) -> None:
    """Categorize one transaction and update the instance."""
    if assign_categories(change, Transaction.objects.for_company(change.company.id).filter(id=transaction.id)).count:
        transaction.categorized_value, transaction.categorizations_auto_assigned = transaction.amount_value, True


def update_automatic_categorizations(change: CompanyChange, transaction: Transaction, changed: set[str]) -> None:
    """Assign the new amount to the same categories, and move the service period of a rule with the date.

    A transaction whose amount is too small for the fixed amounts of its rule is uncategorized. Raises MissingRateError.
    """
    company = change.company
    parts = list(
        Categorization.objects.for_company(company.id).filter(transaction=transaction).order_by("position", "id")
    )
    rule_id = parse_rule_note(parts[0].source_note)
    rules = CategorizationRule.objects.for_company(company.id).with_details(company.id)
    rule = rules.filter(id=rule_id).first() if rule_id else None
    if not (changed & AMOUNT_FIELDS or is_dated_by_payment(parts[0], rule)):
        return
    categorizable = CategorizableTransaction(
        transaction.id,
        transaction.date,
        transaction.amount_value,
        transaction.amount_currency,
        Decimal(0),
        is_counted_in_results=not transaction.pending,
    )
    try:
        apply_choices(change, [(categorizable, build_updated_choice(transaction, parts, rule))], automatic=True)
    except SharesExceedAmount:
        uncategorize_chunk(change, [transaction.id], selected_ids={transaction.id}, result=UncategorizationResult())
        transaction.categorized_value, transaction.categorizations_auto_assigned = Decimal(0), False


def is_dated_by_payment(categorization: Categorization, rule: CategorizationRule | None) -> bool:
    """Whether the service period was computed from the transaction's date."""
    return rule is not None and rule.service_period is not None and categorization.rule == DateRule.SERVICE_PERIOD


def build_updated_choice(
    transaction: Transaction, parts: Sequence[Categorization], rule: CategorizationRule | None
) -> CategorizationChoice:
    """Return the choice that automatic categorizations were made from, for a new amount or date.

    Shares follow the rule where it still assigns the same categories, else they stay in proportion.
    """
    percent = rule.pass_through_tax_percent if rule else compute_tax_percentage(parts[0])
    choice = to_categorization_choice(parts[0], percent)
    if rule is not None and rule.service_period is not None and is_dated_by_payment(parts[0], rule):
        choice = replace(choice, rule=build_service_period_rule(choice.rule, rule.service_period, transaction.date))
    rule_choice = to_rule_choice(rule) if rule and rule.category_id and rule.splits else None
    if rule_choice and {get_category_line(part) for part in parts} <= list_category_lines(rule_choice):
        return replace(rule_choice, counterparty_id=choice.counterparty_id, rule=choice.rule)
    total = sum((part.value for part in parts), Decimal(0))
    splits = (
        ChoiceSplit(*get_category_line(part), Share(MONEY_CONTEXT.divide(100 * part.value, total), None))
        for part in parts[1:]
    )
    return replace(choice, splits=tuple(splits))


def get_category_line(categorization: Categorization) -> tuple[UUID, str]:
    """Return category and P&L line of an automatic categorization."""
    ((pl_type, _),) = list_amounts_by_pl_type(getattr(categorization, pl_type) for pl_type in PL_TYPES)
    return categorization.category_id, pl_type


def list_category_lines(choice: CategorizationChoice) -> set[tuple[UUID, str]]:
    """Return the categories and P&L lines that a choice assigns."""
    return {(choice.category_id, choice.pl_type), *((split.category_id, split.pl_type) for split in choice.splits)}


def to_categorization_choice(categorization: Categorization, percent: Decimal | None) -> CategorizationChoice:
    """Return the choice that an automatic categorization was made from."""
    category_id, pl_type = get_category_line(categorization)
    return CategorizationChoice(
        category_id=category_id,
        pl_type=pl_type,
        counterparty_id=None if categorization.counterparty_by_settlement else categorization.counterparty_id,
        rule=RecognitionRule.from_categorization(categorization),
        tax_percent=percent,
        source_note=categorization.source_note,
    )


def compute_tax_percentage(categorization: Categorization) -> Decimal | None:
    """Return the tax as a percentage, where the rule that set it was deleted."""
    tax = categorization.pass_through_tax
    return 100 * tax / (categorization.value - tax) if tax and categorization.value != tax else None
