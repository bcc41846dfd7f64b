"""Adopting a scenario makes its changes; undoing that restores everything."""

from typing import Any

import pytest

from companies.models import AuditEntry
from planning.models import PlanItem, PlannedTransaction
from tests.planning.scenarios.conftest import day_in_month

pytestmark = pytest.mark.django_db

TIMES = ("lastUpdatedTime", "lastUpdatedUserId")


def list_plans(api: Any) -> list[Any]:
    """Everything planned, without when it was last changed."""
    rows = [*api.get("planned_transactions").json(), *api.get("plan_items").json()]
    return [{name: value for name, value in row.items() if name not in TIMES} for row in rows]


@pytest.fixture
def changes(plan_rent: Any, plan_item: Any, category: Any, account: Any) -> list[dict[str, Any]]:
    """Changes of each kind that touch a planned transaction and each plan item."""
    rent = plan_rent(overrides={day_in_month(2): {"amountValue": "-900.00"}}, passThroughTaxAmount="-190.00")
    plan_item(), plan_item(frequency=0), plan_item(duration=3)
    hire = {"accountId": str(account.id), "name": "Hire", "startDate": day_in_month(2), "amountValue": "-1.00"}
    return [
        {"kind": "scale", "plannedTransactionId": rent["id"], "percent": 10, "to": day_in_month(4)},
        {
            "kind": "shift",
            "plannedTransactionId": rent["id"],
            "days": 3,
            "from": day_in_month(2),
            "to": day_in_month(8),
        },
        {"kind": "scale", "categoryId": str(category.id), "percent": 10, "from": day_in_month(2)},
        {"kind": "stop", "categoryId": str(category.id), "from": day_in_month(3)},
        {"kind": "add", "plannedTransaction": hire},
    ]


def test_adoption_and_undo_restore_everything_planned(api, changes, create_scenario, adopt_scenario):
    scenario, before = create_scenario(*changes), list_plans(api)
    adoption = adopt_scenario(scenario)
    assert list_plans(api) != before
    assert api.get(f"scenarios/{scenario}").json()["adoptionId"] == adoption
    assert api.delete(f"scenarios/{scenario}/adopt").json() == {"success": True}
    assert list_plans(api) == before
    assert api.get(f"scenarios/{scenario}").json()["adoptionId"] is None
    assert adopt_scenario(scenario) != adoption


def test_adoption_is_one_audit_entry(api, acme, changes, create_scenario, adopt_scenario):
    scenario = create_scenario(*changes)
    count = AuditEntry.objects.for_company(acme.id).count()
    adopt_scenario(scenario)
    assert api.delete(f"scenarios/{scenario}/adopt").status_code == 200
    entries = list(AuditEntry.objects.for_company(acme.id).order_by("id"))[count:]
    assert [entry.action for entry in entries] == ["scenario.adopted", "scenario.adoptionUndone"]


def test_adopted_scenario_applies_once(api, plan_rent, create_scenario, adopt_scenario, list_outflow):
    scenario = create_scenario({"kind": "scale", "plannedTransactionId": plan_rent()["id"], "percent": 10})
    adopt_scenario(scenario)
    assert set(list_outflow(scenario).values()) == {1100}
    again = api.post(f"scenarios/{scenario}/adopt")
    assert (again.status_code, again.json()["code"]) == (409, "scenario_adopted")
    changed = api.put(f"scenarios/{scenario}", {"changes": []})
    assert (changed.status_code, changed.json()["code"]) == (409, "scenario_adopted")
    assert api.put(f"scenarios/{scenario}", {"name": "Done"}).status_code == 200


def test_undo_of_a_scenario_that_is_not_adopted_is_rejected(api, create_scenario):
    answer = api.delete(f"scenarios/{create_scenario()}/adopt")
    assert (answer.status_code, answer.json()["code"]) == (409, "scenario_not_adopted")


def test_undo_is_rejected_if_the_plan_was_changed_since(api, plan_rent, create_scenario, adopt_scenario):
    rent = plan_rent()
    scenario = create_scenario({"kind": "scale", "plannedTransactionId": rent["id"], "percent": 10})
    adopt_scenario(scenario)
    assert api.put(f"planned_transactions/{rent['id']}", {"name": "Office", "amountValue": "-5.00"}).status_code == 200
    answer = api.delete(f"scenarios/{scenario}/adopt")
    assert (answer.status_code, answer.json()["code"]) == (409, "adoption_changed")
    assert api.get(f"planned_transactions/{rent['id']}").json()["amountValue"] == "-5.00"


def test_undo_keeps_other_edits_and_settlements(
    api, account, plan_rent, create_scenario, adopt_scenario, make_transaction
):
    rent = plan_rent()
    change = {"kind": "scale", "plannedTransactionId": rent["id"], "percent": 10, "to": day_in_month(2)}
    scenario = create_scenario(change)
    adopt_scenario(scenario)
    paid = str(make_transaction(account, amount_value="-1100", date="2026-01-05").id)
    settle = {"date": day_in_month(1), "transactionId": paid}
    assert api.post(f"planned_transactions/{rent['id']}/settle", settle).status_code == 200
    assert api.put(f"planned_transactions/{rent['id']}", {"name": "Office"}).status_code == 200
    assert api.delete(f"scenarios/{scenario}/adopt").status_code == 200
    body = api.get(f"planned_transactions/{rent['id']}").json()
    assert (body["name"], body["overrides"]) == ("Office", {})
    (settlement,) = api.get(f"transactions/{paid}").json()["settlements"]
    assert (settlement["plannedTransactionId"], settlement["date"]) == (rent["id"], day_in_month(1))


def test_added_rows_that_were_deleted_do_not_stop_the_undo(api, account, create_scenario, adopt_scenario):
    hire = {"accountId": str(account.id), "name": "Hire", "startDate": day_in_month(2), "amountValue": "-1.00"}
    scenario = create_scenario({"kind": "add", "plannedTransaction": hire})
    adopt_scenario(scenario)
    (planned,) = api.get("planned_transactions").json()
    assert api.delete(f"planned_transactions/{planned['id']}").status_code == 200
    assert api.delete(f"scenarios/{scenario}/adopt").status_code == 200


def test_too_large_adoption_is_rejected_as_a_whole(api, plan_rent, create_scenario, monkeypatch):
    monkeypatch.setattr("planning.scenarios.actions.adoption.MAX_OVERRIDES", 100)
    rent = plan_rent()
    scenario = create_scenario(
        {"kind": "scale", "plannedTransactionId": rent["id"], "percent": 10},
        {"kind": "shift", "plannedTransactionId": rent["id"], "days": 3},
    )
    answer = api.post(f"scenarios/{scenario}/adopt")
    assert (answer.status_code, answer.json()["code"]) == (409, "scenario_too_large")
    assert api.get(f"planned_transactions/{rent['id']}").json()["amountValue"] == "-1000.00"


def test_adoption_is_allowed_over_closed_months(
    api, account, plan_rent, plan_item, create_scenario, adopt_scenario, category
):
    """Plans are no protected figures: they stay free in closed months."""
    rent = plan_rent(startDate="2026-01-05")
    plan_item(month="2026-01")
    booked = {"accountId": str(account.id), "date": "2026-01-10", "amountValue": "-1.00"}
    assert api.post("transactions/import", {"transactions": [booked]}).status_code in (200, 201)
    closed = api.post("closings", {"month": "2026-01", "acknowledge": True})
    assert closed.status_code == 201, closed.content
    scenario = create_scenario(
        {"kind": "shift", "plannedTransactionId": rent["id"], "days": 3},
        {"kind": "stop", "categoryId": str(category.id), "from": "2026-01-01"},
    )
    adopt_scenario(scenario)
    assert not PlanItem.objects.exists()
    assert api.delete(f"scenarios/{scenario}/adopt").status_code == 200
    assert (PlanItem.objects.count(), PlannedTransaction.objects.count()) == (1, 1)
