"""Categorization rules of the demo company."""

from demo.books import DemoBooks
from demo.story import read_rows
from ledger.calc.recognition import DateRule
from ledger.models import Operator
from ledger.recognition.service_periods import RecognitionRule
from ledger.rules.actions import categorization_rules


def create_demo_rules(*, books: DemoBooks) -> None:
    """Create the rules, which apply to later transactions."""
    rule = RecognitionRule(DateRule.TRANSACTION_DATE.value)
    for row in read_rows("categorization_rules"):
        condition = {"operator": Operator.CONTAINS.value, "value": row["text"]}
        conditions = {row["field"]: condition, "direction": "out"}
        action = {"category_id": books.category_ids[row["category"]], "rule": rule}
        values = {"name": row["name"], "conditions": conditions, "action": action}
        categorization_rules.create_categorization_rule(**books.scope, values=values)
