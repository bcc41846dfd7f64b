"""Where plans use categories and counterparties. Called by the ledger through hooks."""

from collections.abc import Iterator
from typing import Any
from uuid import UUID

from django.db.models import Count, F, OuterRef, Q, Subquery
from django.db.models.functions import Coalesce
from django.utils.translation import ngettext

from companies.errors import InvalidInputError
from companies.models import AuditContext, Company
from companies.pages.amount_formats import format_count
from ledger.categorization.actions.categories import PlTypeInUse
from ledger.models import Category, Counterparty
from planning.models import PlanItem, PlannedOverride, PlannedTransaction


class PlTypeNotAllowed(InvalidInputError):
    """The replacement category lacks P&L lines that are in use. Choose another one."""

    code = "pl_type_not_allowed"


def build_category_use_count(company_id: UUID) -> Any:
    """Return an expression counting the planned transactions that use a category, overrides included."""
    rules = (
        PlannedTransaction.objects.for_company(company_id).filter(category=OuterRef("id")).order_by().values("category")
    )
    overrides = PlannedOverride.objects.for_company(company_id).filter(
        Q(planned__category=None) | ~Q(planned__category=F("category")), category=OuterRef("id")
    )
    rule_count = Subquery(rules.annotate(n=Count("id")).values("n"))
    override_count = Subquery(
        overrides.order_by().values("category").annotate(n=Count("planned", distinct=True)).values("n")
    )
    return Coalesce(rule_count, 0) + Coalesce(override_count, 0)


def describe_planned_category_uses(company_id: UUID, category_id: UUID) -> Iterator[tuple[int, str]]:
    """Yield (count, text) of the plans that use a category."""
    overridden_ids = PlannedOverride.objects.for_company(company_id).filter(category=category_id).values("planned")
    plans = PlannedTransaction.objects.for_company(company_id).filter(
        Q(category=category_id) | Q(id__in=overridden_ids)
    )
    yield describe_plan_count(plans)
    count = PlanItem.objects.for_company(company_id).filter(category=category_id).count()
    yield count, ngettext("{count} plan item", "{count} plan items", count).format(count=format_count(count))


def describe_planned_counterparty_uses(company_id: UUID, counterparty_id: UUID) -> Iterator[tuple[int, str]]:
    """Yield (count, text) of the plans that use a counterparty."""
    yield describe_plan_count(PlannedTransaction.objects.for_company(company_id).filter(counterparty=counterparty_id))


def describe_plan_count(rows: Any) -> tuple[int, str]:
    count = rows.count()
    return count, ngettext("{count} planned transaction", "{count} planned transactions", count).format(
        count=format_count(count)
    )


def check_planned_category_lines(*, company: Company, category: Category, context: AuditContext) -> None:
    """Check that no plan item posts to a line that the category lost.

    Raises:
        PlTypeInUse: one does.
    """
    if (
        PlanItem.objects.for_company(company.id)
        .filter(category=category)
        .exclude(pl_type__in=category.pl_types)
        .exists()
    ):
        raise PlTypeInUse


def replace_category_in_plans(
    *, company: Company, category_id: UUID, replacement_id: UUID, context: AuditContext
) -> None:
    """Replace a category in all plans; a constant number of statements.

    Raises:
        PlTypeNotAllowed: a plan item's line is none of the replacement's.
    """
    replacement = Category.objects.for_company(company.id).get(id=replacement_id)
    items = PlanItem.objects.for_company(company.id).filter(category=category_id)
    if items.exclude(pl_type__in=replacement.pl_types).exists():
        raise PlTypeNotAllowed(pointer="#/replaceWith")
    plans = PlannedTransaction.objects.for_company(company.id)
    overrides = PlannedOverride.objects.for_company(company.id).filter(category=category_id)
    audit_values = {"last_updated_time": context.time, "last_updated_user_id": context.actor}
    plans.filter(Q(category=category_id) | Q(id__in=overrides.values("planned"))).update(**audit_values)
    plans.filter(category=category_id).update(category=replacement_id)
    overrides.update(category=replacement_id)
    items.update(category=replacement_id, **audit_values)


def touch_plans_of_counterparty(*, counterparty: Counterparty, context: AuditContext) -> None:
    """Mark planned transactions of a counterparty as changed, since they return its type."""
    PlannedTransaction.objects.for_company(counterparty.company_id).filter(counterparty=counterparty).update(
        last_updated_time=context.time, last_updated_user_id=context.actor
    )


def merge_counterparty_in_plans(
    *, company: Company, source: Counterparty, target: Counterparty, context: AuditContext
) -> None:
    """Replace a merged counterparty in all plans."""
    PlannedTransaction.objects.for_company(company.id).filter(counterparty=source).update(
        counterparty=target, last_updated_time=context.time, last_updated_user_id=context.actor
    )
