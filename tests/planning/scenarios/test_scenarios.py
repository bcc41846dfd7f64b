"""Scenarios as a resource: create, list, change, delete, limits, and what is rejected."""

from typing import Any

import pytest

from companies.models import AuditEntry
from planning.models import Scenario
from tests.planning.scenarios.conftest import day_in_month

pytestmark = pytest.mark.django_db

UNKNOWN_ID = "00000000-0000-7000-8000-000000000000"


@pytest.fixture
def hire(account: Any) -> dict[str, Any]:
    body = {"accountId": str(account.id), "name": "Engineer", "startDate": "2027-03-28", "amountValue": "-5000.00"}
    return {"kind": "add", "plannedTransaction": body | {"recurrence": {"frequency": "month"}}}


def list_errors(answer: Any) -> set[tuple[str, str]]:
    assert answer.status_code == 400, answer.content
    return {(each["pointer"], each["code"]) for each in answer.json()["errors"]}


def test_scenario_is_returned_as_created(api, acme, plan_rent, category, hire):
    rent = plan_rent()
    item = {
        "month": "2027-01",
        "plType": "ga",
        "categoryId": str(category.id),
        "amount": {"type": "relative", "amount": {"value": 12.5, "currency": "EUR"}, "relativeChange": 0.015},
    }
    changes = [
        {"kind": "scale", "plannedTransactionId": rent["id"], "percent": 12.5, "from": "2027-01-01"},
        {"kind": "shift", "plannedTransactionId": rent["id"], "days": -3, "to": "2027-06-30"},
        {"kind": "stop", "categoryId": str(category.id), "from": "2027-06-01"},
        {"kind": "add", "planItem": item},
        hire,
    ]
    made = api.post("scenarios", {"name": " Bad year ", "changes": changes})
    assert made.status_code == 201, made.content
    answer = made.json()
    assert made["Location"] == f"/companies/{acme.id}/scenarios/{answer['id']}"
    assert (answer["name"], answer["adoptionId"], answer["adoptedTime"]) == ("Bad year", None, None)
    assert [each["broken"] for each in answer["changes"]] == [False] * 5
    assert answer["changes"][:3] == [each | {"broken": False} for each in changes[:3]]
    assert answer["changes"][3]["planItem"] == item
    assert answer["changes"][4]["plannedTransaction"]["recurrence"]["interval"] == 1
    assert api.get(f"scenarios/{answer['id']}").json() == answer
    assert api.get("scenarios").json() == [answer]
    again = api.put(f"scenarios/{answer['id']}", answer)
    assert again.status_code == 200, again.content
    assert again.json()["changes"] == answer["changes"]
    assert again["ETag"] == made["ETag"]


def test_update_needs_complete_changes(api, create_scenario):
    answer = api.put(f"scenarios/{create_scenario()}", {"changes": [{"percent": 10}]})
    assert answer.status_code == 400
    assert [(each["pointer"], each["code"]) for each in answer.json()["errors"]] == [("#/changes/0/kind", "required")]


def test_update_replaces_what_is_sent(api, create_scenario, plan_rent, acme):
    rent = plan_rent()
    scenario = create_scenario({"kind": "scale", "plannedTransactionId": rent["id"], "percent": 10})
    renamed = api.put(f"scenarios/{scenario}", {"name": "Cheaper"}).json()
    assert (renamed["name"], len(renamed["changes"])) == ("Cheaper", 1)
    emptied = api.put(f"scenarios/{scenario}", {"changes": []}).json()
    assert (emptied["name"], emptied["changes"]) == ("Cheaper", [])
    assert api.delete(f"scenarios/{scenario}").json() == {"success": True}
    assert api.get(f"scenarios/{scenario}").status_code == 404
    actions = AuditEntry.objects.for_company(acme.id).filter(entity_type="scenario").order_by("id")
    assert [entry.action.partition(".")[2] for entry in actions] == ["created", "updated", "updated", "deleted"]


def test_company_has_at_most_twenty_scenarios(api, create_scenario):
    for _ in range(20):
        create_scenario()
    answer = api.post("scenarios", {"name": "One more", "changes": []})
    assert (answer.status_code, answer.json()["code"]) == (409, "too_many_scenarios")


def test_scenario_has_at_most_fifty_changes(api, plan_rent):
    change = {"kind": "scale", "plannedTransactionId": plan_rent()["id"], "percent": 1}
    assert api.post("scenarios", {"name": "Long", "changes": [change] * 50}).status_code == 201
    assert list_errors(api.post("scenarios", {"name": "Longer", "changes": [change] * 51})) == {
        ("#/changes", "too_long")
    }


INVALID_CHANGES = {
    "no kind": ({}, {"/kind required"}),
    "unknown kind": ({"kind": "drop"}, {"/kind invalid_choice"}),
    "add nothing": ({"kind": "add"}, {" required"}),
    "scale nothing": ({"kind": "scale", "percent": 5}, {" required"}),
    "no percent": ({"kind": "scale", "plType": "ga"}, {"/percent required"}),
    "below -100": ({"kind": "scale", "plType": "ga", "percent": -101}, {"/percent out_of_range"}),
    "decimals": ({"kind": "scale", "plType": "ga", "percent": 0.1234567}, {"/percent too_many_decimals"}),
    "reversed": (
        {"kind": "scale", "plType": "ga", "percent": 5, "from": "2027-02-01", "to": "2027-01-31"},
        {"/to end_before_start"},
    ),
    "two targets": (
        {"kind": "scale", "plType": "ga", "categoryId": UNKNOWN_ID, "percent": 5},
        {"/plType contradicts_kind", "/categoryId unknown_id"},
    ),
    "shift a line": ({"kind": "shift", "plType": "ga", "days": 5}, {" required", "/plType contradicts_kind"}),
    "unknown": (
        {"kind": "shift", "plannedTransactionId": UNKNOWN_ID},
        {"/days required", "/plannedTransactionId unknown_id"},
    ),
    "too far": ({"kind": "shift", "counterpartyId": UNKNOWN_ID, "days": 4000}, {"/days out_of_range"}),
    "malformed": ({"kind": "stop", "counterpartyId": "x", "from": "2027-01-01"}, {"/counterpartyId unknown_id"}),
    "no from": ({"kind": "stop", "categoryId": UNKNOWN_ID}, {"/from required", "/categoryId unknown_id"}),
    "stop with an end": (
        {"kind": "stop", "categoryId": UNKNOWN_ID, "from": "2027-01-01", "to": "2027-02-01"},
        {"/to contradicts_kind", "/categoryId unknown_id"},
    ),
}


def test_invalid_change_is_rejected(api):
    for case, (change, errors) in INVALID_CHANGES.items():
        answer = api.post("scenarios", {"name": "Wrong", "changes": [change]})
        assert {f"{pointer} {code}" for pointer, code in list_errors(answer)} == {
            f"#/changes/0{each}" for each in errors
        }, case
        assert not Scenario.objects.exists(), case


def test_errors_of_an_added_row_point_into_the_change(api, hire, category):
    hire["plannedTransaction"] |= {"amountValue": "1.234", "categoryId": UNKNOWN_ID}
    item = {
        "month": "2027-01",
        "plType": "revenue",
        "categoryId": str(category.id),
        "amount": {"type": "relative", "amount": {"value": 1, "currency": "EUR"}},
    }
    answer = api.post("scenarios", {"name": "Wrong", "changes": [hire, {"kind": "add", "planItem": item}]})
    assert list_errors(answer) == {
        ("#/changes/0/plannedTransaction/amountValue", "too_many_decimals"),
        ("#/changes/0/plannedTransaction/categoryId", "unknown_id"),
        ("#/changes/1/planItem/plType", "pl_type_not_allowed"),
        ("#/changes/1/planItem/amount/relativeChange", "required"),
    }


@pytest.mark.parametrize(
    ("other", "contradicts"),
    [
        pytest.param({"kind": "scale", "percent": 5}, True, id="scale without end"),
        pytest.param({"kind": "scale", "percent": 5, "to": day_in_month(2, 28)}, False, id="scale before"),
        pytest.param({"kind": "shift", "days": 5, "from": day_in_month(4)}, True, id="shift after"),
        pytest.param({"kind": "stop", "from": day_in_month(6)}, True, id="stop twice"),
    ],
)
def test_changes_that_contradict_each_other_are_rejected(other, contradicts, api, plan_rent):
    rent = plan_rent()
    stop = {"kind": "stop", "plannedTransactionId": rent["id"], "from": day_in_month(3, 1)}
    other |= {"plannedTransactionId": rent["id"]}
    for changes in ([stop, other], [other, stop]):
        answer = api.post("scenarios", {"name": "Both", "changes": changes})
        if contradicts:
            assert list_errors(answer) == {(f"#/changes/{each}", "contradicting_changes") for each in (0, 1)}
        else:
            assert answer.status_code == 201, answer.content


def test_changes_contradict_each_other_on_an_added_payment_too(acme, api, hire, make_counterparty):
    vendor = make_counterparty(acme)
    hire["plannedTransaction"]["counterparty"] = {"id": str(vendor.id)}
    target = {"counterpartyId": str(vendor.id)}
    raise_pay, stop = {"kind": "scale", "percent": 5, **target}, {"kind": "stop", "from": "2027-06-01", **target}
    both = {"name": "Both", "changes": [hire, raise_pay, stop]}
    expected = {(f"#/changes/{position}", "contradicting_changes") for position in (1, 2)}
    assert list_errors(api.post("scenarios", both)) == expected
    before_the_hire = api.post("scenarios", both | {"changes": [raise_pay, hire, stop]})
    assert before_the_hire.status_code == 201, before_the_hire.content
    scenario = before_the_hire.json()["id"]
    assert list_errors(api.put(f"scenarios/{scenario}", both)) == expected
    assert api.get(f"scenarios/{scenario}").json() == before_the_hire.json()


def test_losing_a_customer_does_not_contradict_a_price_of_the_category(
    acme, api, plan_rent, category, make_counterparty
):
    customer = make_counterparty(acme, type="customer")
    plan_rent(counterparty={"id": str(customer.id)}, categoryId=str(category.id))
    changes = [
        {"kind": "stop", "counterpartyId": str(customer.id), "from": day_in_month(3)},
        {"kind": "scale", "categoryId": str(category.id), "percent": 10},
    ]
    assert api.post("scenarios", {"name": "Both", "changes": changes}).status_code == 201


def test_change_of_a_deleted_row_is_broken_and_changes_nothing(api, plan_rent, create_scenario, list_outflow):
    rent, other = plan_rent(), plan_rent(amountValue="-7.00", startDate=day_in_month(1, 6))
    scenario = create_scenario(
        {"kind": "scale", "plannedTransactionId": other["id"], "percent": 100},
        {"kind": "scale", "plannedTransactionId": rent["id"], "percent": 10},
    )
    assert api.delete(f"planned_transactions/{rent['id']}").status_code == 200
    answer = api.get(f"scenarios/{scenario}").json()
    assert [each["broken"] for each in answer["changes"]] == [False, True]
    query = {"endDate": day_in_month(12), "scenarioId": scenario}
    for name in ("forecastCashFlowTimeSeries", "forecastBalanceTimeSeries", "runway"):
        body = query if "forecast" in name else {"scenarioId": scenario}
        assert api.post(f"data/{name}", body).json()["brokenChanges"] == [1]
    months = {"startMonth": "2027-01", "endMonth": "2027-02", "scenarioId": scenario}
    assert api.post("data/profitAndLoss", months)["Broken-Changes"] == "1"
    assert set(list_outflow(scenario).values()) == {14}
    refused = api.post(f"scenarios/{scenario}/adopt")
    assert (refused.status_code, refused.json()["code"]) == (409, "scenario_broken")
    assert api.put(f"scenarios/{scenario}", answer).status_code == 200
    assert api.put(f"scenarios/{scenario}", {"changes": answer["changes"][:1]}).status_code == 200
    assert api.post(f"scenarios/{scenario}/adopt").status_code == 200


def test_unknown_scenario_is_rejected(api, globex_api):
    theirs = globex_api.post("scenarios", {"name": "Theirs", "changes": []}).json()["id"]
    for scenario in (theirs, UNKNOWN_ID, "x"):
        for method, path in (("get", ""), ("put", ""), ("delete", ""), ("post", "/adopt"), ("delete", "/adopt")):
            arguments = ({"name": "x"},) if method == "put" else ()
            assert getattr(api, method)(f"scenarios/{scenario}{path}", *arguments).status_code == 404
        query = {"endDate": day_in_month(12), "scenarioId": scenario}
        months = {"startMonth": "2027-01", "endMonth": "2027-02", "scenarioId": scenario}
        for name, body in (
            ("forecastCashFlowTimeSeries", query),
            ("forecastBalanceTimeSeries", query),
            ("runway", {"scenarioId": scenario}),
            ("profitAndLoss", months),
        ):
            assert list_errors(api.post(f"data/{name}", body)) == {("#/scenarioId", "unknown_id")}
