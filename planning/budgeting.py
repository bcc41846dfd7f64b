"""Lines of the financial plan."""

from collections.abc import Callable
from decimal import Decimal
from typing import Any
from uuid import UUID

from django.utils.translation import gettext as _

from companies.changing import changing
from companies.models import Company, Stamp
from ledger.calc.money import minor_units
from ledger.models import Category
from planning.models import PlanItem
from planning.references import Checks

CHANGE_DECIMALS = 10  # what the column keeps


def add(*, company: Company, stamp: Stamp, values: dict[str, Any]) -> PlanItem:
    """A new line; ``values`` as its shape reads them. Raises FieldErrors."""
    with changing(company, stamp=stamp) as change:
        return change.create(PlanItem(company=company, **checked(company, values)), "planItem.created")


def change(
    *, company: Company, stamp: Stamp, item_id: UUID | str, values: Callable[[PlanItem], dict[str, Any]]
) -> PlanItem:
    """Stores what differs; ``values`` reads the complete body that the stored line becomes.

    Raises Missing, Stale, FieldErrors.
    """
    with changing(company, stamp=stamp) as change:
        item = change.locked(PlanItem, item_id)
        change.update(item, "planItem.updated", **checked(company, values(item)))
    return item


def remove(*, company: Company, stamp: Stamp, item_id: UUID | str) -> None:
    """Raises Missing, Stale."""
    with changing(company, stamp=stamp) as change:
        change.delete(change.locked(PlanItem, item_id), "planItem.deleted")


def checked(company: Company, values: dict[str, Any]) -> dict[str, Any]:
    """The columns of a complete body. Raises FieldErrors with every mistake."""
    checks = Checks(company)
    checks.refers(Category, values["category_id"], "#/categoryId")
    category = Category.objects.of(company.id).filter(id=values["category_id"]).first()
    if category is not None and values["pl_type"] not in category.pl_types:
        told = _("{name} posts to {lines} only.").format(name=category.name, lines=", ".join(category.pl_types))
        checks.wrong("#/plType", "pl_type_not_allowed", told)
    columns = amount_columns(checks, values["amount"])
    checks.pass_or_raise()
    return {
        "month": values["month"],
        "pl_type": values["pl_type"],
        "category_id": values["category_id"],
        "duration": values.get("duration"),
        "frequency": values.get("frequency", 1),
        **columns,
    }


def amount_columns(checks: Checks, given: dict[str, Any]) -> dict[str, Any]:
    value, currency = given["amount"]["value"], given["amount"]["currency"]
    if decimals(value) > minor_units(currency):
        told = _("This has more decimals than {currency}.").format(currency=currency)
        checks.wrong("#/amount/amount/value", "too_many_decimals", told)
    relative_change = given.get("relative_change")
    if given["type"] == "relative" and relative_change is None:
        told = _("An amount of type relative needs a relativeChange.")
        checks.wrong("#/amount/relativeChange", "required", told)
    if relative_change is not None and decimals(relative_change) > CHANGE_DECIMALS:
        checks.wrong("#/amount/relativeChange", "too_many_decimals", _("This has more than 10 decimals."))
    return {
        "amount_type": given["type"],
        "amount_value": value,
        "amount_currency": currency,
        "relative_change": relative_change,
    }


def decimals(value: Decimal) -> int:
    """How many decimals the number needs: 12.50 needs one."""
    return max(-int(value.normalize().as_tuple().exponent), 0)
