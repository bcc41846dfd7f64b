"""Categorization rules of the demo company."""

from uuid import UUID

from companies.models import AuditContext, Company
from ledger.calc.recognition import DateRule
from ledger.models import Operator
from ledger.recognition.service_periods import RecognitionRule
from ledger.rules.actions import categorization_rules

# (name, condition field, text, category)
RULE_DEFINITIONS = (
    ("Bank charges", "description", "Bank charges", "officeAndAdmin"),
    ("Insurance", "from_to", "Aegis Insurance", "officeAndAdmin"),
    ("Value-added tax", "description", "Value-added tax", "taxPayments"),
)


def create_demo_rules(*, company: Company, context: AuditContext, categories: dict[str, UUID]) -> None:
    """Create the rules, which apply to later transactions."""
    for name, field_name, text, category in RULE_DEFINITIONS:
        conditions = {field_name: {"operator": Operator.CONTAINS.value, "value": text}, "direction": "out"}
        action = {"category_id": categories[category], "rule": RecognitionRule(DateRule.TRANSACTION_DATE.value)}
        values = {"name": name, "conditions": conditions, "action": action}
        categorization_rules.create_categorization_rule(company=company, context=context, values=values)
