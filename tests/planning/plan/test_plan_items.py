"""Lines of the financial plan over HTTP."""

from typing import Any

import pytest

from companies.models import AuditEntry
from planning.models import PlanItem

pytestmark = pytest.mark.django_db

UNKNOWN_ID = "00000000-0000-7000-8000-000000000000"


@pytest.fixture
def item_body(category: Any) -> dict[str, Any]:
    return {
        "month": "2026-01",
        "plType": "ga",
        "categoryId": str(category.id),
        "amount": {"type": "fixed", "amount": {"value": 1200.5, "currency": "EUR"}},
    }


@pytest.fixture
def plan_item(api: Any, item_body: dict[str, Any]) -> Any:
    made = api.post("plan_items", item_body)
    assert made.status_code == 201, made.content
    return made.json()


def build_path(item: dict[str, Any]) -> str:
    return f"plan_items/{item['id']}"


def test_plan_item_is_returned_as_created(api, item_body, acme):
    made = api.post("plan_items", item_body)
    assert made.status_code == 201, made.content
    answer = made.json()
    assert made["Location"] == f"/companies/{acme.id}/plan_items/{answer['id']}"
    assert answer["amount"] == {
        "type": "fixed",
        "amount": {"value": 1200.5, "currency": "EUR"},
        "relativeChange": None,
    }
    assert (answer["month"], answer["duration"], answer["frequency"]) == ("2026-01", None, 1)
    read = api.get(build_path(answer))
    assert read.json() == answer
    assert api.get(build_path(answer), if_none_match=read["ETag"]).status_code == 304
    assert api.get("plan_items").json() == [answer]


@pytest.mark.parametrize(
    "amount",
    [
        {"type": "fixed", "amount": {"value": 5, "currency": "JPY"}, "relativeChange": 0},
        {"type": "changeByAmount", "amount": {"value": -0.01, "currency": "USD"}, "relativeChange": None},
        {"type": "relative", "amount": {"value": 999999999999999, "currency": "EUR"}, "relativeChange": -1},
        {"type": "relative", "amount": {"value": 12.34, "currency": "EUR"}, "relativeChange": 0.1},
    ],
)
def test_every_amount_type_is_stored_as_sent(api, item_body, amount):
    made = api.post("plan_items", item_body | {"amount": amount, "duration": 12, "frequency": 0})
    assert made.status_code == 201, made.content
    assert made.json()["amount"] == amount
    assert api.get(build_path(made.json())).json() == made.json()


def build_amount(value: Any = 1, currency: Any = "EUR", **more: Any) -> dict[str, Any]:
    return {"amount": {"type": "fixed", "amount": {"value": value, "currency": currency}} | more}


INVALID_BODIES: list[tuple[dict[str, Any], str, str]] = [
    ({"month": ...}, "#/month", "required"),
    ({"plType": ...}, "#/plType", "required"),
    ({"categoryId": ...}, "#/categoryId", "required"),
    ({"amount": ...}, "#/amount", "required"),
    ({"month": "2026-13"}, "#/month", "invalid_month"),
    ({"month": "2026-01-01"}, "#/month", "invalid_month"),
    ({"plType": "profit"}, "#/plType", "invalid_choice"),
    ({"plType": "cogs"}, "#/plType", "pl_type_not_allowed"),
    ({"categoryId": UNKNOWN_ID}, "#/categoryId", "unknown_id"),
    ({"categoryId": None}, "#/categoryId", "must_not_be_null"),
    ({"amount": 12}, "#/amount", "invalid_value"),
    ({"amount": {"type": "fixed"}}, "#/amount/amount", "required"),
    (build_amount(type="often"), "#/amount/type", "invalid_choice"),
    (build_amount("12"), "#/amount/amount/value", "invalid_value"),
    (build_amount(10**15), "#/amount/amount/value", "out_of_range"),
    (build_amount(-1e300), "#/amount/amount/value", "out_of_range"),
    (build_amount(0.001), "#/amount/amount/value", "too_many_decimals"),
    (build_amount(1, "XXX"), "#/amount/amount/currency", "invalid_choice"),
    (build_amount(type="relative"), "#/amount/relativeChange", "required"),
    (build_amount(type="relative", relativeChange=-1.01), "#/amount/relativeChange", "out_of_range"),
    (build_amount(type="relative", relativeChange=10.5), "#/amount/relativeChange", "out_of_range"),
    (build_amount(type="relative", relativeChange="0.1"), "#/amount/relativeChange", "invalid_value"),
    (build_amount(type="relative", relativeChange=1e-11), "#/amount/relativeChange", "too_many_decimals"),
    ({"duration": 0}, "#/duration", "out_of_range"),
    ({"duration": 2**31}, "#/duration", "out_of_range"),
    ({"duration": 1.5}, "#/duration", "invalid_value"),
    ({"frequency": -1}, "#/frequency", "out_of_range"),
    ({"frequency": None}, "#/frequency", "must_not_be_null"),
]


def test_invalid_plan_is_rejected(api, item_body):
    for change, pointer, code in INVALID_BODIES:
        sent = {name: value for name, value in (item_body | change).items() if value is not ...}
        answer = api.post("plan_items", sent)
        assert answer.status_code == 400, answer.content
        assert answer.json()["code"] == "validation_failed", change
        assert [(e["pointer"], e["code"]) for e in answer.json()["errors"]] == [(pointer, code)], change
        assert not PlanItem.objects.exists(), change


def test_invalid_update_is_rejected_and_changes_nothing(api, plan_item):
    for change, pointer, code in [row for row in INVALID_BODIES if ... not in row[0].values()]:
        answer = api.put(build_path(plan_item), change)
        assert answer.status_code == 400, answer.content
        assert [(e["pointer"], e["code"]) for e in answer.json()["errors"]] == [(pointer, code)], change
        assert api.get(build_path(plan_item)).json() == plan_item, change


def test_update_keeps_fields_not_sent_and_is_audited(api, plan_item):
    answer = api.put(build_path(plan_item), {"duration": 6})
    assert answer.json() == plan_item | {"duration": 6, "lastUpdatedTime": answer.json()["lastUpdatedTime"]}
    entry = AuditEntry.objects.get(action="planItem.updated")
    assert (entry.before["duration"], entry.after["duration"]) == (None, 6)
    assert api.put(build_path(plan_item), {"duration": None}).json()["duration"] is None


def test_earliest_calendar_month_is_returned_as_sent(api, item_body):
    assert api.post("plan_items", item_body | {"month": "0001-02"}).json()["month"] == "0001-02"


def test_deleted_plan_item_is_not_found(api, plan_item):
    assert api.delete(build_path(plan_item)).json() == {"success": True}
    assert api.get(build_path(plan_item)).status_code == 404


def test_plan_item_list_is_paged_with_two_queries(api, item_body, django_assert_max_num_queries):
    made = [api.post("plan_items", item_body | {"duration": i + 1}).json() for i in range(4)]
    first = api.get("plan_items", {"limit": 3})
    rest = api.get(first["Link"].split(";")[0].strip("<>"))
    assert first.json() + rest.json() == made[::-1]
    with django_assert_max_num_queries(2):
        api.get("plan_items")
