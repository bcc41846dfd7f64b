"""Plan items as values for calculations."""

from decimal import Decimal
from typing import Any

from planning.calc.plan_postings import PlanAmount
from planning.calc.scenario_plan import PlanItemState
from planning.models import PlanItem


def build_item_state(item: PlanItem) -> PlanItemState:
    """Return a plan item as a value."""
    return PlanItemState(
        item.id,
        item.pl_type,
        item.category_id,
        item.amount_currency,
        item.month,
        item.frequency,
        item.duration,
        build_plan_amount(item.amount_type, item.amount_value, item.relative_change),
    )


def build_plan_amount(amount_type: Any, value: Decimal, relative_change: Decimal | None) -> PlanAmount:
    """Return the amount of a plan item's postings."""
    return (
        PlanAmount(amount_type, value) if relative_change is None else PlanAmount(amount_type, value, relative_change)
    )
