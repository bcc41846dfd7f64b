"""A rule offered for what a person just did: where one could say it of all that is like it, and none does yet."""

from typing import Any
from uuid import UUID

from django.db.models import Value
from django.db.models.functions import Left, Lower

from companies.models import Company
from ledger.models import CategorizationRule, Transaction
from ledger.models.transactions import FirstWord
from ledger.rules.calc.matching import Movement
from ledger.rules.learning import NothingToLearn, otherwise, rule_like
from ledger.rules.rulebook import ready, rulebook

MOST_COMPARED = 1000  # the latest of those that are like it; the form of the rule looks at all
OF_A_MOVEMENT = ("from_to", "description", "amount_value", "amount_currency", "account_id")
LONGEST_NAME = 100  # that the indexes know


def offered(company: Company, transaction_id: UUID) -> CategorizationRule | None:
    """The rule, not stored. None where there is nothing to learn, a rule says the same, or others were for something
    else. A constant number of statements."""
    row = Transaction.objects.of(company.id).filter(id=transaction_id).first()
    if row is None or row.categorizations_auto_assigned:
        return None
    try:
        rule = rule_like(company, row)
    except NothingToLearn:
        return None
    says = rulebook(company).matcher.first(Movement(*(getattr(row, name) for name in OF_A_MOVEMENT)))
    if says and (says.choice.category_id, says.choice.pl_type) == (rule.category_id, rule.pl_type):
        return None
    matcher = ready([rule], stored=False).matcher
    ids = [row_id for row_id, *facts in like(company, row) if matcher.first(Movement(*facts))]
    return None if otherwise(company, rule, ids) else rule


def like(company: Company, row: Transaction) -> Any:
    """(id, what rules look at) of the latest categorized ones of the same name; without one of the same first word."""
    known: Any = Transaction.objects.of(company.id).exclude(categorized_value=0)
    if row.from_to.strip():
        known = known.annotate(known_by=Lower(Left("from_to", LONGEST_NAME)))
        same = known.filter(known_by=Lower(Value(row.from_to[:LONGEST_NAME])))
    else:
        known = known.annotate(known_by=Lower(FirstWord("description")))
        same = known.filter(known_by=Lower(Value(row.description[:LONGEST_NAME].split(" ", 1)[0])))
    return same.order_by("-date").values_list("id", *OF_A_MOVEMENT)[:MOST_COMPARED]
