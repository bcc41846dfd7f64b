"""Where plans use a category."""

from typing import Any

import pytest
from django.db import transaction

from ledger.categorization.actions.categories import CategoryInUse, delete_category
from ledger.models import Category
from planning.category_usage import PlTypeNotAllowed, build_category_use_count
from planning.models import PlanItem

pytestmark = pytest.mark.django_db


@pytest.fixture
def other_category(api: Any, body: dict[str, Any], category: Any, acme: Any, make_category: Any) -> Any:
    """Another category; planned transactions and a plan item use `category` and it in their rules and occurrences."""
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


def count_uses(company: Any) -> dict[Any, int]:
    """Category → planned transactions that name it, where there are any."""
    rows = (
        Category.objects.for_company(company.id).annotate(uses=build_category_use_count(company.id)).filter(uses__gt=0)
    )
    return dict(rows.values_list("id", "uses"))


def test_planned_transaction_counts_once_per_category(acme, globex, category, other_category):
    assert count_uses(acme) == {category.id: 2, other_category.id: 1}
    assert count_uses(globex) == {}


def test_category_in_a_plan_cannot_be_deleted(acme, audit_context, category, other_category):
    for row in (category, other_category):
        with pytest.raises(CategoryInUse):
            delete_category(company=acme, category_id=row.id, context=audit_context)


def test_replacement_category_takes_over_all_plans(acme, audit_context, category, make_category, other_category):
    new = make_category(acme, name="New", pl_types=["ga", "cogs"])
    delete_category(company=acme, category_id=category.id, context=audit_context, replace_with=new.id)
    assert count_uses(acme) == {new.id: 2, other_category.id: 1}
    assert PlanItem.objects.get().category_id == new.id
    assert PlanItem.objects.get().last_updated_time == audit_context.time


def test_replacement_category_must_have_the_line_of_plan_items(
    acme, audit_context, category, make_category, other_category
):
    new = make_category(acme, name="New", pl_types=["cogs"])
    with pytest.raises(PlTypeNotAllowed), transaction.atomic():
        delete_category(company=acme, category_id=category.id, context=audit_context, replace_with=new.id)
    assert count_uses(acme) == {category.id: 2, other_category.id: 1}


def test_category_list_counts_uses_in_plans(api, category, other_category):
    counts = {row["id"]: (row["usedPlannedTransactions"], row["used"]) for row in api.get("categories").json()}
    assert counts.pop(str(category.id)) == (2, 2)
    assert counts.pop(str(other_category.id)) == (1, 1)
    assert set(counts.values()) == {(0, 0)}


def test_category_in_a_plan_is_deleted_by_api_only_with_valid_replacement(
    api, acme, category, make_category, other_category
):
    lacking, new = make_category(acme, pl_types=["cogs"]), make_category(acme, name="New")
    assert api.delete(f"categories/{category.id}").json()["code"] == "category_in_use"
    refused = api.delete(f"categories/{category.id}?replaceWith={lacking.id}")
    assert [(e["pointer"], e["code"]) for e in refused.json()["errors"]] == [("#/replaceWith", "pl_type_not_allowed")]
    assert count_uses(acme) == {category.id: 2, other_category.id: 1}
    assert api.delete(f"categories/{category.id}?replaceWith={new.id}").status_code == 200
    assert count_uses(acme) == {new.id: 2, other_category.id: 1}


def test_category_line_used_by_a_plan_item_cannot_be_removed(api, category, other_category):
    """A plan item whose category had lost its line could not be sent back as it was read."""
    path = f"categories/{category.id}"
    refused = api.put(path, {"name": "New", "plTypes": ["cogs"]})
    assert (refused.status_code, refused.json()["code"]) == (409, "pl_type_in_use")
    assert (api.get(path).json()["name"], api.get(path).json()["plTypes"]) == ("Rent", ["ga"])
    item = api.get("plan_items").json()[0]
    assert api.put(path, {"plTypes": ["cogs", "ga"]}).status_code == 200
    assert api.put(path, {"plTypes": ["ga"]}).status_code == 200, "nothing is planned on the other"
    assert api.put(f"plan_items/{item['id']}", item).json() == item
    api.delete(f"plan_items/{item['id']}")
    assert api.put(path, {"plTypes": ["cogs"]}).status_code == 200
