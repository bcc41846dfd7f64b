"""The audit log page says what was changed in a scenario, and how much its adoption changed."""

from typing import Any

import pytest

from companies.permissions import Role
from tests import factories
from tests.change_tables import list_change_rows
from tests.planning.scenarios.conftest import day_in_month, month_ahead

pytestmark = pytest.mark.django_db


@pytest.fixture
def list_changed_fields(owner: Any, acme: Any) -> Any:
    """Return the changed fields of each audit entry about scenarios, newest first."""

    def list_changed_fields(client: Any = owner) -> list[list[tuple[str, str, str]]]:
        answer = client.get(f"/app/companies/{acme.id}/settings/activity", {"kind": "scenario"})
        return list_change_rows(answer)

    return list_changed_fields


def test_audit_log_page_shows_changes_of_a_scenario(api, plan_rent, category, list_changed_fields):
    rent = plan_rent()["id"]
    stop = {"kind": "stop", "plannedTransactionId": rent, "from": "2027-03-01"}
    scale = {"kind": "scale", "categoryId": str(category.id), "percent": 10, "to": "2027-12-31"}
    made = api.post("scenarios", {"name": "Cheaper", "changes": [stop]})
    path = f"scenarios/{made.json()['id']}"
    assert api.put(path, {"changes": [scale]}).status_code == 200
    assert api.put(path, {"name": "Dearer"}).status_code == 200
    renamed, changed, created = list_changed_fields()
    assert renamed == [("Name", "Cheaper", "Dearer")]
    assert changed == [
        ("Plan change", "Stop Rent from 1 Mar 2027 on", "—"),
        ("Plan change", "—", f"Change {category.name} by +10% until 31 Dec 2027"),
    ]
    assert created == [("Name", "—", "Cheaper"), ("Plan change", "—", "Stop Rent from 1 Mar 2027 on")]


def test_audit_log_page_counts_what_an_adoption_changed(
    api, account, category, plan_rent, plan_item, adopt_scenario, list_changed_fields
):
    rent = plan_rent()["id"]
    plan_item()
    hire = {"accountId": str(account.id), "name": "Hire", "startDate": day_in_month(2), "amountValue": "-1.00"}
    bonus = {"amount": {"type": "fixed", "amount": {"value": 7, "currency": "EUR"}}, "month": month_ahead(3)}
    changes = [
        {"kind": "scale", "plannedTransactionId": rent, "percent": 5},
        {"kind": "add", "plannedTransaction": hire},
        {"kind": "add", "planItem": {"plType": "ga", "categoryId": str(category.id), "frequency": 0} | bonus},
        {"kind": "scale", "categoryId": str(category.id), "percent": 5},
    ]
    scenario = api.post("scenarios", {"name": "Growth", "changes": changes}).json()["id"]
    adopt_scenario(scenario)
    assert api.delete(f"scenarios/{scenario}/adopt").status_code == 200
    counts = [
        ("Planned transactions changed", "—", "1"),
        ("Planned transactions added", "—", "1"),
        ("Plan items changed or ended", "—", "1"),
        ("Plan items added", "—", "1"),
    ]
    undone, adopted, created = list_changed_fields()
    assert (undone, adopted) == (counts, counts)
    assert len(created) == 4
    assert created[1][2].startswith("Add Hire: ")


def test_audit_log_page_names_the_first_changes_and_counts_the_others(api, plan_rent, list_changed_fields):
    rent = plan_rent()["id"]
    changes = [{"kind": "scale", "plannedTransactionId": rent, "percent": percent} for percent in range(1, 9)]
    api.post("scenarios", {"name": "Many", "changes": changes})
    (fields,) = list_changed_fields()
    assert fields[0] == ("Plan change", "—", "Change Rent by +1%")
    assert fields[5:] == [("Plan changes", "—", "3 more")]


def test_audit_log_page_shows_deleted_targets_and_hides_changes_without_permission(
    api, acme, sign_in_browser, plan_rent, list_changed_fields
):
    rent = plan_rent()["id"]
    api.post(
        "scenarios", {"name": "Lost", "changes": [{"kind": "scale", "plannedTransactionId": rent, "percent": -50}]}
    )
    assert api.delete(f"planned_transactions/{rent}").status_code == 200
    assert list_changed_fields()[0][0] == ("Plan change", "—", "Change Deleted by −50%")
    eve = factories.make_member(acme, "eve@acme.example", role=Role.VIEWER, permissions=["audit:read"])
    assert "Change Deleted" not in str(list_changed_fields(sign_in_browser(eve, acme).client))
