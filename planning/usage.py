"""Where plans use a category. The ledger asks through the settings, since it stands below."""

from collections.abc import Iterator
from typing import Any
from uuid import UUID

from django.db.models import Count, F, OuterRef, Q, Subquery
from django.db.models.functions import Coalesce
from django.utils.translation import ngettext

from companies.errors import Invalid
from companies.models import Company, Stamp
from companies.pages.amounts import number
from ledger.models import Category, Counterparty
from ledger.purposes.categories import PlTypeInUse
from planning.models import PlanItem, PlannedOverride, PlannedTransaction


class PlTypeNotAllowed(Invalid):
    """Plan items post to a P&L line that the other category does not have."""

    code = "pl_type_not_allowed"


def uses_of_category(company_id: UUID) -> Any:
    """How many planned transactions name an annotated category, by their rule or for one of their occurrences."""
    by_rule = PlannedTransaction.objects.of(company_id).filter(category=OuterRef("id")).order_by().values("category")
    by_override = PlannedOverride.objects.of(company_id).filter(
        Q(planned__category=None) | ~Q(planned__category=F("category")), category=OuterRef("id")
    )
    rules = Subquery(by_rule.annotate(n=Count("id")).values("n"))
    overrides = Subquery(
        by_override.order_by().values("category").annotate(n=Count("planned", distinct=True)).values("n")
    )
    return Coalesce(rules, 0) + Coalesce(overrides, 0)


def told_of_category(company_id: UUID, category_id: UUID) -> Iterator[tuple[int, str]]:
    """How many plans name a category, and so many in words."""
    overridden = PlannedOverride.objects.of(company_id).filter(category=category_id).values("planned")
    plans = PlannedTransaction.objects.of(company_id).filter(Q(category=category_id) | Q(id__in=overridden))
    yield of_plans(plans)
    count = PlanItem.objects.of(company_id).filter(category=category_id).count()
    yield count, ngettext("{count} plan line", "{count} plan lines", count).format(count=number(count))


def told_of_counterparty(company_id: UUID, counterparty_id: UUID) -> Iterator[tuple[int, str]]:
    yield of_plans(PlannedTransaction.objects.of(company_id).filter(counterparty=counterparty_id))


def of_plans(rows: Any) -> tuple[int, str]:
    count = rows.count()
    return count, ngettext("{count} planned payment", "{count} planned payments", count).format(count=number(count))


def category_lines_changed(*, company: Company, category: Category, stamp: Stamp) -> None:
    """Raises PlTypeInUse where the category lost a line that a plan item posts to."""
    if PlanItem.objects.of(company.id).filter(category=category).exclude(pl_type__in=category.pl_types).exists():
        raise PlTypeInUse


def category_replaced(*, company: Company, category_id: UUID, replacement_id: UUID, stamp: Stamp) -> None:
    """Puts another category in the place of one, everywhere in the plans; a constant number of statements.

    Raises PlTypeNotAllowed where a plan item's line is not one of the replacement's.
    """
    replacement = Category.objects.of(company.id).get(id=replacement_id)
    items = PlanItem.objects.of(company.id).filter(category=category_id)
    if items.exclude(pl_type__in=replacement.pl_types).exists():
        raise PlTypeNotAllowed(pointer="#/replaceWith")
    plans = PlannedTransaction.objects.of(company.id)
    overrides = PlannedOverride.objects.of(company.id).filter(category=category_id)
    stamped = {"last_updated_time": stamp.time, "last_updated_user_id": stamp.actor}
    plans.filter(Q(category=category_id) | Q(id__in=overrides.values("planned"))).update(**stamped)
    plans.filter(category=category_id).update(category=replacement_id)
    overrides.update(category=replacement_id)
    items.update(category=replacement_id, **stamped)


def counterparty_type_changed(*, counterparty: Counterparty, stamp: Stamp) -> None:
    """Planned transactions answer the type, so they have changed too."""
    PlannedTransaction.objects.of(counterparty.company_id).filter(counterparty=counterparty).update(
        last_updated_time=stamp.time, last_updated_user_id=stamp.actor
    )


def counterparty_merged(*, company: Company, gone: Counterparty, kept: Counterparty, stamp: Stamp) -> None:
    """Plans with the one are plans with the other."""
    PlannedTransaction.objects.of(company.id).filter(counterparty=gone).update(
        counterparty=kept, last_updated_time=stamp.time, last_updated_user_id=stamp.actor
    )
