"""The audit log page says what was changed in a scenario, and how much its adoption changed."""

import re
from html import unescape
from typing import Any

import pytest

from companies.permissions import Role
from tests import factories
from tests.planning.scenarios.conftest import day_in_month, month_ahead

pytestmark = pytest.mark.django_db


@pytest.fixture
def list_facts(owner: Any, acme: Any) -> Any:
    """The facts of each entry about scenarios, newest first."""

    def read(client: Any = owner) -> list[list[str]]:
        answer = client.get(f"/app/companies/{acme.id}/settings/activity", {"kind": "scenario"})
        assert answer.status_code == 200
        rows = answer.content.decode().partition("<tbody>")[2].split("<tr>")[1:]
        chips = [re.findall(r'<span class="chip[^>]*>(.*?)</span>', row, re.DOTALL) for row in rows]
        return [[" ".join(unescape(re.sub(r"<[^>]+>", "", chip)).split()) for chip in each] for each in chips]

    return read


def test_audit_log_page_shows_changes_of_a_scenario_as_sentences(api, plan_rent, category, list_facts):
    rent = plan_rent()["id"]
    stop = {"kind": "stop", "plannedTransactionId": rent, "from": "2027-03-01"}
    scale = {"kind": "scale", "categoryId": str(category.id), "percent": 10, "to": "2027-12-31"}
    made = api.post("scenarios", {"name": "Cheaper", "changes": [stop]})
    path = f"scenarios/{made.json()['id']}"
    assert api.put(path, {"changes": [scale]}).status_code == 200
    assert api.put(path, {"name": "Dearer"}).status_code == 200
    renamed, changed, created = list_facts()
    assert renamed == ["name: Cheaper Dearer"]
    assert changed == [
        "plan change: Stop Rent from 1 Mar 2027 on –",
        f"plan change: Change {category.name} by +10% until 31 Dec 2027",
    ]
    assert created == ["name: Cheaper", "plan change: Stop Rent from 1 Mar 2027 on"]


def test_audit_log_page_counts_what_an_adoption_changed(
    api, account, category, plan_rent, plan_item, adopt, list_facts
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
    adopt(scenario)
    assert api.delete(f"scenarios/{scenario}/adopt").status_code == 200
    counts = [
        "planned transactions changed: 1",
        "planned transactions added: 1",
        "plan items changed or ended: 1",
        "plan items added: 1",
    ]
    undone, adopted, created = list_facts()
    assert (undone, adopted) == (counts, counts)
    assert len(created) == 4
    assert created[1].startswith("plan change: Add Hire: ")


def test_audit_log_page_names_the_first_changes_and_counts_the_others(api, plan_rent, list_facts):
    rent = plan_rent()["id"]
    changes = [{"kind": "scale", "plannedTransactionId": rent, "percent": percent} for percent in range(1, 9)]
    api.post("scenarios", {"name": "Many", "changes": changes})
    (facts,) = list_facts()
    assert facts[0] == "plan change: Change Rent by +1%"
    assert facts[5:] == ["plan changes: 3 more"]


def test_audit_log_page_shows_deleted_targets_and_hides_changes_without_permission(
    api, acme, browser_of, plan_rent, list_facts
):
    rent = plan_rent()["id"]
    api.post(
        "scenarios", {"name": "Lost", "changes": [{"kind": "scale", "plannedTransactionId": rent, "percent": -50}]}
    )
    assert api.delete(f"planned_transactions/{rent}").status_code == 200
    assert list_facts()[0][0] == "plan change: Change Deleted by −50%"
    eve = factories.make_member(acme, "eve@acme.example", role=Role.VIEWER, permissions=["audit:read"])
    assert "Change Deleted" not in str(list_facts(browser_of(eve, acme).client))
