"""Where plans use a category. The ledger asks through the settings, since it stands below."""

from uuid import UUID

from django.db.models import Count, F, Q

from companies.errors import Invalid
from companies.models import Company, Stamp
from ledger.models import Category
from planning.models import PlanItem, PlannedOverride, PlannedTransaction


class PlTypeNotAllowed(Invalid):
    """Plan items post to a P&L line that the other category does not have."""

    code = "pl_type_not_allowed"


def planned_by_category(company_id: UUID) -> dict[UUID, int]:
    """Category → planned transactions that use it, by their rule or for one of their occurrences. Two queries."""
    rules = PlannedTransaction.objects.of(company_id).filter(category__isnull=False)
    counts: dict[UUID, int] = dict(rules.values_list("category").annotate(Count("id")))
    elsewhere = PlannedOverride.objects.of(company_id).filter(
        Q(planned__category=None) | ~Q(planned__category=F("category")), category__isnull=False
    )
    for category_id, count in elsewhere.values_list("category").annotate(Count("planned", distinct=True)):
        counts[category_id] = counts.get(category_id, 0) + count
    return counts


def uses_category(*, company_id: UUID, category_id: UUID) -> bool:
    """Whether a planned transaction, one of its overrides or a plan item refers to the category."""
    return any(
        model.objects.of(company_id).filter(category=category_id).exists()
        for model in (PlannedTransaction, PlannedOverride, PlanItem)
    )


def replace_category(*, company: Company, stamp: Stamp, category: Category, replacement: Category) -> int:
    """Puts another category in the place of one, everywhere in the plans; how many plans changed.

    Raises PlTypeNotAllowed, with nothing changed, where a plan item's line is not one of the replacement's.
    """
    items = PlanItem.objects.of(company.id).filter(category=category.id)
    if items.exclude(pl_type__in=replacement.pl_types).exists():
        raise PlTypeNotAllowed
    plans = PlannedTransaction.objects.of(company.id)
    overrides = PlannedOverride.objects.of(company.id).filter(category=category.id)
    touched = plans.filter(Q(category=category.id) | Q(id__in=overrides.values("planned")))
    stamped = {"last_updated_time": stamp.time, "last_updated_user_id": stamp.actor}
    count = touched.update(**stamped) + items.update(category=replacement.id, **stamped)
    plans.filter(category=category.id).update(category=replacement.id)
    overrides.update(category=replacement.id)
    return count
