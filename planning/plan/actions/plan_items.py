"""Create, update and delete items of the financial plan."""

from collections.abc import Callable
from decimal import Decimal
from typing import Any
from uuid import UUID

from django.utils.translation import gettext as _

from companies.change import change_company
from companies.models import AuditContext, Company
from ledger.models import Category, translate_category_name
from ledger.money.calc.money import get_minor_units
from planning.body_checks import BodyChecks
from planning.models import PlanItem

MAX_RELATIVE_CHANGE_DECIMALS = 10  # decimals of the column


def create_plan_item(*, company: Company, context: AuditContext, values: dict[str, Any]) -> PlanItem:
    """Create a plan item from the values that its serializer parsed.

    Raises:
        ValidationFailed: the values do not fit together.
    """
    with change_company(company, context=context) as change:
        return change.create(
            PlanItem(company=company, **validate_plan_item_values(company, values)), "planItem.created"
        )


def update_plan_item(
    *, company: Company, context: AuditContext, item_id: UUID | str, build_values: Callable[[PlanItem], dict[str, Any]]
) -> PlanItem:
    """Update a plan item with the values that differ.

    Args:
        build_values: returns the complete new body, given the stored item.

    Raises:
        NotFoundError, PreconditionFailed: the item is gone or has another version.
        ValidationFailed: the values do not fit together.
    """
    with change_company(company, context=context) as change:
        item = change.lock(PlanItem, item_id)
        change.update(item, "planItem.updated", **validate_plan_item_values(company, build_values(item)))
    return item


def delete_plan_item(*, company: Company, context: AuditContext, item_id: UUID | str) -> None:
    """Delete a plan item.

    Raises:
        NotFoundError, PreconditionFailed: the item is gone or has another version.
    """
    with change_company(company, context=context) as change:
        change.delete(change.lock(PlanItem, item_id), "planItem.deleted")


def validate_plan_item_values(company: Company, values: dict[str, Any]) -> dict[str, Any]:
    """Validate a complete body and return its columns.

    Raises:
        ValidationFailed: with every mistake of the body.
    """
    checks = BodyChecks(company)
    checks.add_reference(Category, values["category_id"], "#/categoryId")
    category = Category.objects.for_company(company.id).filter(id=values["category_id"]).first()
    if category is not None and values["pl_type"] not in category.pl_types:
        message = _("{name} only posts to {lines}.").format(
            name=translate_category_name(category.name), lines=", ".join(category.pl_types)
        )
        checks.add_error("#/plType", "pl_type_not_allowed", message)
    columns = build_amount_columns(checks, values["amount"])
    checks.raise_if_invalid()
    return {
        "month": values["month"],
        "pl_type": values["pl_type"],
        "category_id": values["category_id"],
        "duration": values.get("duration"),
        "frequency": values.get("frequency", 1),
        **columns,
    }


def build_amount_columns(checks: BodyChecks, amount: dict[str, Any]) -> dict[str, Any]:
    """Return the amount columns of a plan item; add an error for each wrong amount."""
    value, currency = amount["amount"]["value"], amount["amount"]["currency"]
    if count_needed_decimals(value) > get_minor_units(currency):
        message = _("More decimals than {currency} allows.").format(currency=currency)
        checks.add_error("#/amount/amount/value", "too_many_decimals", message)
    relative_change = amount.get("relative_change")
    if amount["type"] == "relative" and relative_change is None:
        message = _("Growth by a percentage needs relativeChange.")
        checks.add_error("#/amount/relativeChange", "required", message)
    if relative_change is not None and count_needed_decimals(relative_change) > MAX_RELATIVE_CHANGE_DECIMALS:
        checks.add_error("#/amount/relativeChange", "too_many_decimals", _("At most 10 decimals are allowed."))
    return {
        "amount_type": amount["type"],
        "amount_value": value,
        "amount_currency": currency,
        "relative_change": relative_change,
    }


def count_needed_decimals(value: Decimal) -> int:
    """Count the decimals that a number needs: 12.50 needs one."""
    return max(-int(value.normalize().as_tuple().exponent), 0)
