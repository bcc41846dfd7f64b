"""Rules of the demonstration company, for what comes again each month."""

from uuid import UUID

from companies.models import Company, Stamp
from ledger.calc.recognition import DateRule
from ledger.models import Operator
from ledger.recognition.dating import Rule
from ledger.rules import ruling

# (what is called so, from or to whom or with which text, the category)
RULES = (
    ("Bank charges", "description", "Bank charges", "officeAndAdmin"),
    ("Insurance", "from_to", "Aegis Insurance", "officeAndAdmin"),
    ("Value-added tax", "description", "Value-added tax", "taxPayments"),
)


def make_rules(*, company: Company, stamp: Stamp, categories: dict[str, UUID]) -> None:
    """They speak about what comes from now on."""
    for name, where, text, category in RULES:
        conditions = {where: {"operator": Operator.CONTAINS.value, "value": text}, "direction": "out"}
        action = {"category_id": categories[category], "rule": Rule(DateRule.TRANSACTION_DATE.value)}
        values = {"name": name, "conditions": conditions, "action": action}
        ruling.add(company=company, stamp=stamp, values=values)
