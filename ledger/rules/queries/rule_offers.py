"""Offer a rule after a person categorized a transaction, if it holds for all similar ones and no rule says it
yet.
"""

from typing import Any
from uuid import UUID

from django.db.models import Value
from django.db.models.functions import Left, Lower

from companies.models import Company
from ledger.models import CategorizationRule, Transaction
from ledger.models.transactions import MAX_INDEXED_NAME_LENGTH, FirstWord
from ledger.rules.calc.rule_matcher import MatchInput
from ledger.rules.queries.compiled_rules import build_compiled_rules, load_compiled_rules
from ledger.rules.queries.suggestions import NothingToLearn, build_rule_from_transaction, find_counter_examples

MAX_COMPARED = 1000  # the latest of those that are like it; the form of the rule looks at all
MATCH_FIELDS = ("from_to", "description", "amount_value", "amount_currency", "account_id")


def find_rule_offer(company: Company, transaction_id: UUID) -> CategorizationRule | None:
    """Return the unsaved rule. None if no rule can be derived, a rule says the same, or similar transactions were
    categorized otherwise. A constant number of statements.
    """
    transaction = Transaction.objects.for_company(company.id).filter(id=transaction_id).first()
    if transaction is None or transaction.categorizations_auto_assigned:
        return None
    try:
        rule = build_rule_from_transaction(company, transaction)
    except NothingToLearn:
        return None
    current_verdict = load_compiled_rules(company).matcher.find_first(
        MatchInput(*(getattr(transaction, name) for name in MATCH_FIELDS))
    )
    if current_verdict and (current_verdict.choice.category_id, current_verdict.choice.pl_type) == (
        rule.category_id,
        rule.pl_type,
    ):
        return None
    matcher = build_compiled_rules(company, [rule], is_stored=False).matcher
    transaction_ids = [
        row_id
        for row_id, *values in list_similar_transactions(company, transaction)
        if matcher.find_first(MatchInput(*values))
    ]
    return None if find_counter_examples(company, rule, transaction_ids) else rule


def list_similar_transactions(company: Company, transaction: Transaction) -> Any:
    """Return (id, match fields) of the latest categorized transactions with the same name, else the same first word."""
    categorized: Any = Transaction.objects.for_company(company.id).exclude(categorized_value=0)
    if transaction.from_to.strip():
        categorized = categorized.annotate(known_by=Lower(Left("from_to", MAX_INDEXED_NAME_LENGTH)))
        similar = categorized.filter(known_by=Lower(Value(transaction.from_to[:MAX_INDEXED_NAME_LENGTH])))
    else:
        categorized = categorized.annotate(known_by=Lower(FirstWord("description")))
        similar = categorized.filter(
            known_by=Lower(Value(transaction.description[:MAX_INDEXED_NAME_LENGTH].split(" ", 1)[0]))
        )
    return similar.order_by("-date").values_list("id", *MATCH_FIELDS)[:MAX_COMPARED]
