"""The currencies of what is planned, whose exchange rates the figures of a company need."""

from typing import Any
from uuid import UUID

from django.db.models import QuerySet

from planning.models import PlanItem, PlannedTransaction


def build_planned_currency_queries(company_id: UUID) -> list[QuerySet[Any, Any]]:
    """Return queries of the currencies of open planned transactions and of the plan."""
    return [
        rows.order_by().values_list("amount_currency")
        for rows in (
            PlannedTransaction.objects.for_company(company_id).filter(is_closed=False),
            PlanItem.objects.for_company(company_id),
        )
    ]
