"""A rule that would have done what somebody just did, to look at before it is kept."""

from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from typing import Any
from uuid import UUID

from companies.errors import Conflict, unknown_id
from companies.models import Company
from ledger.calc.money import WIDE, tax_within
from ledger.calc.recognition import DateRule
from ledger.models import Categorization, CategorizationRule, Direction, Operator, Transaction
from ledger.recognition.posting import LINES, lines_from
from ledger.rules import applying
from ledger.rules.calc.matching import fold
from ledger.rules.habits import NOT_BY_ITSELF
from ledger.rules.rulebook import ready

LONGEST_VALUE = 200
MOST_EXAMPLES = 10
OF_ITS_OWN_DAYS = {DateRule.SERVICE_PERIOD, DateRule.CUSTOM}  # which are no other's


class NothingToLearn(Conflict):
    """The transaction as a whole is for nothing yet, or for several things, or has no text to be known by."""

    code = "nothing_to_learn"


class RuleTooBroad(Conflict):
    """The rule would match transactions that were categorized otherwise; counterExamples names some."""

    code = "rule_too_broad"

    def __init__(self, examples: list[tuple[UUID, UUID]]):
        super().__init__()
        self.more = {
            "counterExamples": [
                {"transactionId": str(transaction), "categoryId": str(category)} for transaction, category in examples
            ]
        }


@dataclass(frozen=True, slots=True)
class Offered:
    rule: CategorizationRule
    preview: applying.Preview
    against: list[tuple[UUID, UUID]]  # (transaction, category) of what it would match and was categorized otherwise


def from_transaction(*, company: Company, transaction_id: UUID) -> Offered:
    """The rule, not stored, and what it would do. Raises FieldErrors (unknown_id), NothingToLearn, RuleTooBroad."""
    row = Transaction.objects.of(company.id).filter(id=transaction_id).first()
    if row is None:
        raise unknown_id("#/transactionId")
    found = tried(company, rule_like(company, row))
    if found.against:
        raise RuleTooBroad(found.against)
    return found


def learned(company: Company, row: Transaction) -> Offered | None:
    """The same of a row, whatever speaks against it; None where there is nothing to learn."""
    try:
        return tried(company, rule_like(company, row))
    except NothingToLearn:
        return None


def tried(company: Company, rule: CategorizationRule) -> Offered:
    """A rule that is not stored, what it would do, and what speaks against it."""
    rules = ready([rule], stored=False)
    rows = Transaction.objects.of(company.id).without_initial()
    ids = [each.fact.id for chunk in applying.matched(company, rows, rules) for each in chunk]
    return Offered(rule, applying.preview(company=company, rules=rules), otherwise(company, rule, ids))


def rule_like(company: Company, row: Transaction) -> CategorizationRule:
    """Says of everything with the transaction's text and direction what was said of the transaction."""
    parts = list(
        Categorization.objects.of(company.id).filter(transaction=row).select_related("category", "counterparty")
    )
    if row.is_initial or row.is_open or len(parts) != 1 or parts[0].counter_id:
        raise NothingToLearn
    part = parts[0]
    lines = lines_from(getattr(part, line) for line in LINES)
    if len(lines) != 1:
        raise NothingToLearn
    rule = CategorizationRule(
        company=company,
        name=(row.from_to.strip() or row.description.strip() or part.category.name)[:LONGEST_VALUE],
        category=part.category,
        pl_type=lines[0][0],
        given_counterparty=part.counterparty,
        date_rule=DateRule.TRANSACTION_DATE.value if part.rule in OF_ITS_OWN_DAYS else part.rule,
        pass_through_tax_percent=percent_of(part, row.amount_currency),
        direction=Direction.IN if row.amount_value > 0 else Direction.OUT,
    )
    for name, value in text_condition(row).items():
        setattr(rule, name, value)
    return rule


def text_condition(row: Transaction) -> dict[str, Any]:
    """By the other side's name; without one by how the text begins, up to what differs from one to the next."""
    if name := fold(row.from_to):
        if len(row.from_to) <= LONGEST_VALUE:
            return {"from_to_operator": Operator.EQUALS, "from_to_value": " ".join(row.from_to.split())}
        return {"from_to_operator": Operator.STARTS_WITH, "from_to_value": name[:LONGEST_VALUE].strip()}
    words = row.description.split()
    common = next((n for n, word in enumerate(words) if any(char.isdigit() for char in word)), len(words))
    text = " ".join(words[:common] or words)[:LONGEST_VALUE].strip()
    if not fold(text):
        raise NothingToLearn
    return {"description_operator": Operator.STARTS_WITH, "description_value": text}


def percent_of(part: Categorization, currency: str) -> Decimal | None:
    """The tax as the shortest percentage that comes to it."""
    tax = part.pass_through_tax
    if not tax or tax == part.value:
        return None
    exact = WIDE.divide(100 * tax, part.value - tax)
    shown = (exact.quantize(Decimal(1).scaleb(-places), rounding=ROUND_HALF_UP) for places in range(5))
    percents = [each for each in shown if each <= 100 and tax_within(part.value, each, currency) == tax]
    return percents[0] if percents else None


def otherwise(company: Company, rule: CategorizationRule, ids: list[UUID]) -> list[tuple[UUID, UUID]]:
    """(transaction, category) of some among them that somebody, or another rule, has categorized otherwise."""
    parts = Categorization.objects.of(company.id).filter(NOT_BY_ITSELF, transaction_id__in=ids)
    parts = parts.exclude(category=rule.category, **{f"{rule.pl_type}__isnull": False})
    parts = parts.order_by("-transaction_id", "position", "id").distinct("transaction_id")  # each once, if split too
    return list(parts.values_list("transaction_id", "category_id")[:MOST_EXAMPLES])
