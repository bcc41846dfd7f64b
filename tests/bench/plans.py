"""Companies with many daily plans, for the measurements that need them."""

from datetime import UTC, datetime, timedelta
from typing import Any


def make_planning_company(name: str, *, plans: int) -> tuple[Any, Any]:
    """Return a new company with so many plans that recur every day since 300 days, and its owner. Django is set up."""
    from companies.actions.companies import create_company
    from companies.models import AuditContext, SystemStatus, User
    from planning.models import PlannedTransaction

    audit_context = AuditContext(time=datetime.now(tz=UTC))
    owner = User.objects.create(email=f"{name}@bench.example")
    company, _ = create_company(
        name=name, base_currency="EUR", owner=owner, context=audit_context, status=SystemStatus.FREE
    )
    PlannedTransaction.objects.bulk_create(
        PlannedTransaction(
            company=company,
            name=f"Plan {number}",
            start_date=audit_context.time.date() - timedelta(days=300),
            amount_value=-10,
            amount_currency="EUR",
            frequency="day",
            source="api",
        ).mark_created(audit_context)
        for number in range(plans)
    )
    return company, owner
