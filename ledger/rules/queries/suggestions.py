"""Rule suggestions: the rule that would have categorized a transaction as a person did."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from companies.errors import ConflictError, build_unknown_id_error
from companies.models import Company
from companies.names import build_name
from ledger.calc.recognition import DateRule
from ledger.models import (
    Categorization,
    CategorizationRule,
    Direction,
    Operator,
    Transaction,
    translate_category_name,
)
from ledger.money.calc.money import find_shortest_tax_percentage
from ledger.recognition.actions.postings import PL_TYPES, list_amounts_by_pl_type
from ledger.rules.calc.rule_matcher import fold_text
from ledger.rules.queries import rule_matches
from ledger.rules.queries.compiled_rules import build_compiled_rules
from ledger.rules.queries.history_proposals import NOT_AUTO_ASSIGNED

MAX_VALUE_LENGTH = 200
MAX_COUNTER_EXAMPLES = 10
PERIOD_SPECIFIC_RULES = {DateRule.SERVICE_PERIOD, DateRule.CUSTOM}  # which are no other's


class NothingToLearn(ConflictError):
    """To create a rule, the transaction needs a text and exactly one category."""

    code = "nothing_to_learn"


class RuleTooBroad(ConflictError):
    """The rule would match transactions with other categories (see counterExamples). Add conditions."""

    code = "rule_too_broad"

    def __init__(self, examples: list[tuple[UUID, UUID]]):
        super().__init__()
        self.extensions = {
            "counterExamples": [
                {"transactionId": str(transaction), "categoryId": str(category)} for transaction, category in examples
            ]
        }


@dataclass(frozen=True, slots=True)
class RuleSuggestion:
    """A suggested rule, what it would do, and transactions that were categorized otherwise."""

    rule: CategorizationRule
    preview: rule_matches.RulePreview
    counter_examples: list[
        tuple[UUID, UUID]
    ]  # (transaction, category) of what it would match and was categorized otherwise


def suggest_rule(*, company: Company, transaction_id: UUID) -> RuleSuggestion:
    """Return the suggested, unsaved rule. Raises ValidationFailed (unknown_id), NothingToLearn, RuleTooBroad."""
    transaction = Transaction.objects.for_company(company.id).filter(id=transaction_id).first()
    if transaction is None:
        raise build_unknown_id_error("#/transactionId")
    suggestion = build_rule_suggestion(company, build_rule_from_transaction(company, transaction))
    if suggestion.counter_examples:
        raise RuleTooBroad(suggestion.counter_examples)
    return suggestion


def find_rule_suggestion(company: Company, transaction: Transaction) -> RuleSuggestion | None:
    """Return the suggestion even if there are counter-examples; None if no rule can be derived."""
    try:
        return build_rule_suggestion(company, build_rule_from_transaction(company, transaction))
    except NothingToLearn:
        return None


def build_rule_suggestion(company: Company, rule: CategorizationRule) -> RuleSuggestion:
    """Return what an unsaved rule would do, with its counter-examples."""
    rules = build_compiled_rules(company, [rule], is_stored=False)
    rows = Transaction.objects.for_company(company.id).without_initial_balances()
    transaction_ids = [
        match.transaction.id for chunk in rule_matches.iterate_rule_matches(company, rows, rules) for match in chunk
    ]
    return RuleSuggestion(
        rule,
        rule_matches.preview_rules(company=company, rules=rules),
        find_counter_examples(company, rule, transaction_ids),
    )


def build_rule_from_transaction(company: Company, transaction: Transaction) -> CategorizationRule:
    """Return an unsaved rule that categorizes transactions with the same text and direction as this one was."""
    categorizations = list(
        Categorization.objects.for_company(company.id)
        .filter(transaction=transaction)
        .select_related("category", "counterparty")
    )
    return build_rule_from_categorizations(company, transaction, categorizations)


def build_rule_from_categorizations(
    company: Company, transaction: Transaction, categorizations: Sequence[Categorization]
) -> CategorizationRule:
    """Return the unsaved rule of a transaction whose categorizations are loaded. Raises NothingToLearn."""
    if transaction.is_initial or transaction.is_open or len(categorizations) != 1 or categorizations[0].counter_id:
        raise NothingToLearn
    categorization = categorizations[0]
    amounts = list_amounts_by_pl_type(getattr(categorization, pl_type) for pl_type in PL_TYPES)
    if len(amounts) != 1:
        raise NothingToLearn
    rule = CategorizationRule(
        company=company,
        name=build_name(
            transaction.from_to.strip()
            or transaction.description.strip()
            or translate_category_name(categorization.category.name)
        )[:MAX_VALUE_LENGTH].strip(),
        category=categorization.category,
        pl_type=amounts[0][0],
        given_counterparty=categorization.counterparty,
        date_rule=DateRule.TRANSACTION_DATE.value
        if categorization.rule in PERIOD_SPECIFIC_RULES
        else categorization.rule,
        pass_through_tax_percent=find_shortest_tax_percentage(
            categorization.value, categorization.pass_through_tax, transaction.amount_currency
        ),
        direction=Direction.IN if transaction.amount_value > 0 else Direction.OUT,
    )
    for name, value in build_text_condition(transaction).items():
        setattr(rule, name, value)
    return rule


def build_text_condition(transaction: Transaction) -> dict[str, Any]:
    """Return the condition on the other party's name, or without one on how the text begins, up to the first
    word with a digit. Raises NothingToLearn.
    """
    if name := fold_text(transaction.from_to):
        if len(transaction.from_to) <= MAX_VALUE_LENGTH:
            return {"from_to_operator": Operator.EQUALS, "from_to_value": " ".join(transaction.from_to.split())}
        return {"from_to_operator": Operator.STARTS_WITH, "from_to_value": name[:MAX_VALUE_LENGTH].strip()}
    text = extract_steady_text(transaction.description)
    if not fold_text(text):
        raise NothingToLearn
    return {"description_operator": Operator.STARTS_WITH, "description_value": text}


def extract_steady_text(description: str) -> str:
    """Return how a text begins, up to the first word with a digit: the part that the next payment has too.

    >>> extract_steady_text("ADOBE *CREATIVE CLOUD 4711 DUBLIN"), extract_steady_text("4711 Rack")
    ('ADOBE *CREATIVE CLOUD', '4711 Rack')
    """
    words = description.split()
    shared_word_count = next((n for n, word in enumerate(words) if any(char.isdigit() for char in word)), len(words))
    return " ".join(words[:shared_word_count] or words)[:MAX_VALUE_LENGTH].strip()


def find_counter_examples(
    company: Company, rule: CategorizationRule, transaction_ids: list[UUID]
) -> list[tuple[UUID, UUID]]:
    """Return (transaction, category) of some that a person or another rule has categorized otherwise."""
    categorizations = Categorization.objects.for_company(company.id).filter(
        NOT_AUTO_ASSIGNED, transaction_id__in=transaction_ids
    )
    categorizations = categorizations.exclude(category=rule.category, **{f"{rule.pl_type}__isnull": False})
    categorizations = categorizations.order_by("-transaction_id", "position", "id").distinct(
        "transaction_id"
    )  # each once, if split too
    return list(categorizations.values_list("transaction_id", "category_id")[:MAX_COUNTER_EXAMPLES])
