"""Where plans use a category."""

from typing import Any

import pytest
from django.db import IntegrityError, transaction

from planning.models import PlanItem
from planning.usage import PlTypeNotAllowed, planned_by_category, replace_category, uses_category

pytestmark = pytest.mark.django_db


@pytest.fixture
def used(api: Any, body: dict[str, Any], category: Any, acme: Any, make_category: Any) -> Any:
    """Two plans use the rent: one by its rule, one for an occurrence; and a plan item."""
    other = make_category(acme, name="Other")
    both = {"2026-01-31": {"categoryId": str(category.id)}, "2026-02-28": {"categoryId": str(category.id)}}
    for body_of in (
        body | {"categoryId": str(category.id), "overrides": {"2026-01-31": {"categoryId": str(other.id)}}},
        body | {"overrides": both},
        body,
    ):
        assert api.post("planned_transactions", body_of).status_code == 201
    amount = {"type": "fixed", "amount": {"value": 1, "currency": "EUR"}}
    item = {"month": "2026-01", "plType": "ga", "categoryId": str(category.id), "amount": amount}
    assert api.post("plan_items", item).status_code == 201
    return other


def test_planned_transactions_are_counted_once_by_rule_or_by_override(acme, globex, category, used):
    assert planned_by_category(acme.id) == {category.id: 2, used.id: 1}
    assert planned_by_category(globex.id) == {}


def test_a_category_in_a_plan_cannot_be_deleted(acme, category, used):
    for row in (category, used):
        assert uses_category(company_id=acme.id, category_id=row.id)
        with pytest.raises(IntegrityError), transaction.atomic():
            row.delete()


def test_another_category_takes_its_place_everywhere(acme, stamp, category, make_category, used):
    new = make_category(acme, name="New", pl_types=["ga", "cogs"])
    assert replace_category(company=acme, stamp=stamp, category=category, replacement=new) == 3
    assert planned_by_category(acme.id) == {new.id: 2, used.id: 1}
    assert not uses_category(company_id=acme.id, category_id=category.id)
    assert PlanItem.objects.get().last_updated_time == stamp.time
    category.delete()


def test_one_that_lacks_the_line_of_a_plan_item_does_not(acme, stamp, category, make_category, used):
    new = make_category(acme, name="New", pl_types=["cogs"])
    with pytest.raises(PlTypeNotAllowed):
        replace_category(company=acme, stamp=stamp, category=category, replacement=new)
    assert planned_by_category(acme.id) == {category.id: 2, used.id: 1}
