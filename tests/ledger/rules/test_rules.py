"""Rules over HTTP: kept, ordered, checked as categorize checks, and switched off when what they refer to goes away."""

import pytest

from tests.ledger.conftest import get_error_codes

pytestmark = pytest.mark.django_db

NO_CONDITIONS = {
    "fromTo": None, "description": None, "text": None, "accountIds": None, "direction": None,
    "minAmount": None, "maxAmount": None, "currency": None, "counterpartyId": None,
}  # fmt: skip


@pytest.fixture
def create_rule(api, hosting):
    """Create a categorization rule."""

    def create(conditions=None, action=None, **values):
        body = {
            "name": "Hosting",
            "conditions": conditions or {"text": {"operator": "contains", "value": "Nimbus"}},
            "action": action or {"categoryId": hosting},
        }
        answer = api.post("categorization_rules", body | values)
        assert answer.status_code == 201, answer.content
        return answer.json()

    return create


def test_rule_is_returned_with_all_fields_and_can_be_sent_back(api, hosting, acme, create_rule):
    made = create_rule()
    expected = {
        "companyId": str(acme.id),
        "name": "Hosting",
        "enabled": True,
        "disabledReason": None,
        "order": 0,
        "conditions": NO_CONDITIONS | {"text": {"operator": "contains", "value": "Nimbus"}},
        "action": {
            "categoryId": hosting,
            "plType": "cogs",
            "counterparty": None,
            "counterpartyFrom": None,
            "usingDateRule": {"type": "transactionDate", "startDate": None, "endDate": None, "invoiceDate": None},
            "servicePeriod": None,
            "passThroughTaxPercent": None,
            "splits": [],
        },
        "matchedCount": 0,
        "lastMatchedTime": None,
    }
    assert expected.items() <= made.items()
    read = api.get(f"categorization_rules/{made['id']}")
    assert read.json() == made == api.get("categorization_rules").json()[0]
    sent_back = api.put(f"categorization_rules/{made['id']}", made, if_match=read["ETag"])
    assert sent_back.json() == made
    assert sent_back["ETag"] == read["ETag"]


def test_rule_stores_all_conditions_and_action_fields(api, books, bank, savings, create_rule):
    vendor = api.post("counterparties", {"type": "vendor", "name": "Nimbus"}).json()["id"]
    conditions = {
        "fromTo": {"operator": "startsWith", "value": "Nim"},
        "description": {"operator": "wholeWord", "value": "hosting"},
        "text": {"operator": "equals", "value": "x"},
        "accountIds": sorted([bank, savings]),
        "direction": "out",
        "minAmount": "10.00",
        "maxAmount": "1000.00",
        "currency": "EUR",
        "counterpartyId": vendor,
    }
    action = {
        "categoryId": books.get_category_id("hosting"),
        "plType": "cogs",
        "counterparty": {"type": "vendor", "id": vendor},
        "counterpartyFrom": None,
        "usingDateRule": {"type": "month", "startDate": None, "endDate": None, "invoiceDate": None},
        "servicePeriod": None,
        "passThroughTaxPercent": 19,
        "splits": [],
    }
    made = create_rule(conditions, action)
    assert (made["conditions"], made["action"]) == (conditions, action)
    assert api.get("categorization_rules").json()[0]["conditions"] == conditions


def test_rule_update_keeps_fields_not_sent(api, bank, create_rule, hosting):
    made = create_rule({"accountIds": [bank], "direction": "out"})
    path = f"categorization_rules/{made['id']}"
    changed = api.put(path, {"name": "Other"}).json()
    unlike = {"lastUpdatedTime", "name"}
    assert {name: made[name] for name in made.keys() - unlike} == {name: changed[name] for name in made.keys() - unlike}
    conditions = api.put(path, {"conditions": {"direction": "in"}}).json()["conditions"]
    assert conditions == NO_CONDITIONS | {"direction": "in"}
    assert api.put(path, {"action": {"plType": "cogs"}}).status_code == 400
    off = api.put(path, {"enabled": False}).json()
    assert (off["enabled"], off["disabledReason"]) == (False, None)


def test_rule_order_can_be_changed(api, create_rule):
    first, second, third = (create_rule(name=name)["id"] for name in "abc")
    assert [each["id"] for each in api.get("categorization_rules").json()] == [first, second, third]
    assert api.put("categorization_rules/order", {"ids": [third, first, second]}).status_code == 200
    listed = api.get("categorization_rules").json()
    assert [(each["id"], each["order"]) for each in listed] == [(third, 0), (first, 1), (second, 2)]


def test_rule_order_must_contain_every_rule_once(api, create_rule):
    first, second = create_rule()["id"], create_rule()["id"]
    for ids, expected in [
        ([first], {"#/ids": "required"}),
        ([first, first, second], {"#/ids/1": "repeated_id"}),
        ([first, second, "x"], {"#/ids/2": "unknown_id"}),
        ([first, second, "00000000-0000-7000-8000-000000000000"], {"#/ids/2": "unknown_id"}),
    ]:
        answer = api.put("categorization_rules/order", {"ids": ids})
        assert (answer.status_code, get_error_codes(answer)) == (400, expected)


CONTAINS = {"operator": "contains", "value": "x"}
INVALID_RULES = [
    ("no condition", {"conditions": {}}, "validation_failed", {"#/conditions": "must_not_be_empty"}),
    ("none that asks", {"conditions": {"text": None, "accountIds": []}}, "validation_failed",
     {"#/conditions": "must_not_be_empty"}),
    ("an operator", {"conditions": {"text": {"operator": "matches", "value": "x"}}}, "validation_failed",
     {"#/conditions/text/operator": "invalid_choice"}),
    ("nothing to look for", {"conditions": {"fromTo": {"operator": "contains", "value": " \u0301 "}}},
     "validation_failed", {"#/conditions/fromTo/value": "blank"}),
    ("an account", {"conditions": {"accountIds": ["00000000-0000-7000-8000-000000000000"]}}, "validation_failed",
     {"#/conditions/accountIds/0": "unknown_id"}),
    ("a counterparty", {"conditions": {"counterpartyId": "x"}}, "validation_failed",
     {"#/conditions/counterpartyId": "unknown_id"}),
    ("a negative bound", {"conditions": {"minAmount": "-1"}}, "validation_failed",
     {"#/conditions/minAmount": "out_of_range"}),
    ("bounds", {"conditions": {"minAmount": "2", "maxAmount": "1"}}, "validation_failed",
     {"#/conditions/maxAmount": "out_of_range"}),
    ("a bound", {"conditions": {"minAmount": "ten"}}, "validation_failed",
     {"#/conditions/minAmount": "invalid_decimal"}),
    ("a category", {"action": {"categoryId": "x"}}, "validation_failed", {"#/action/categoryId": "unknown_id"}),
    ("no category", {"action": {"categoryId": None}}, "validation_failed", {"#/action/categoryId": "required"}),
    ("a line", {"action": {"categoryId": "hosting", "plType": "ga"}}, "validation_failed",
     {"#/action/plType": "pl_type_not_allowed"}),
    ("a percentage", {"action": {"categoryId": "hosting", "passThroughTaxPercent": 101}}, "validation_failed",
     {"#/action/passThroughTaxPercent": "out_of_range"}),
    ("its decimals", {"action": {"categoryId": "hosting", "passThroughTaxPercent": 1.23456}}, "validation_failed",
     {"#/action/passThroughTaxPercent": "too_many_decimals"}),
    ("a period", {"action": {"categoryId": "hosting", "usingDateRule": {
        "type": "custom", "startDate": "2000-01-01", "endDate": "2040-01-01"}}}, "period_too_long", {}),
]  # fmt: skip


def test_invalid_rule_is_rejected_like_invalid_categorization(api, hosting):
    for case, given, code, expected in INVALID_RULES:
        body = {"name": "x", "conditions": {"text": CONTAINS}, "action": {"categoryId": hosting}} | given
        if body["action"]["categoryId"] == "hosting":
            body["action"] = body["action"] | {"categoryId": hosting}
        answer = api.post("categorization_rules", body)
        assert (answer.status_code, answer.json()["code"], get_error_codes(answer)) == (400, code, expected), case


def test_rule_with_multi_line_category_needs_a_line(api, create_rule):
    several = api.post("categories", {"name": "Both", "plTypes": ["cogs", "ga"]}).json()["id"]
    body = {"name": "x", "conditions": {"text": CONTAINS}, "action": {"categoryId": several}}
    assert get_error_codes(api.post("categorization_rules", body)) == {"#/action/plType": "pl_type_needed"}
    made = create_rule(action={"categoryId": several, "plType": "ga"})
    assert api.put(f"categories/{several}", {"plTypes": ["cogs"]}).status_code == 200
    lost = api.get(f"categorization_rules/{made['id']}").json()
    assert (lost["enabled"], lost["disabledReason"]) == (False, "plTypeLost")


def test_deleted_category_disables_its_rules(api, create_rule, hosting):
    own = api.post("categories", {"name": "Own", "plTypes": ["ga"]}).json()["id"]
    made = create_rule(action={"categoryId": own})
    path = f"categorization_rules/{made['id']}"
    assert api.delete(f"categories/{own}").status_code == 200
    off = api.get(path).json()
    assert (off["enabled"], off["disabledReason"], off["action"]["categoryId"]) == (False, "categoryDeleted", None)
    assert api.put(path, off).json() == off
    assert get_error_codes(api.put(path, {"enabled": True})) == {"#/action/categoryId": "required"}
    again = api.put(path, {"enabled": True, "action": {"categoryId": hosting}}).json()
    assert (again["enabled"], again["disabledReason"], again["action"]["plType"]) == (True, None, "cogs")


def test_replacement_category_takes_over_rules(api, create_rule, hosting):
    own = api.post("categories", {"name": "Own", "plTypes": ["ga", "cogs"]}).json()["id"]
    several = api.post("categories", {"name": "Several", "plTypes": ["pd", "cac"]}).json()["id"]
    made = create_rule(action={"categoryId": own, "plType": "cogs"})
    assert api.delete(f"categories/{own}?replaceWith={hosting}").status_code == 200
    moved = api.get(f"categorization_rules/{made['id']}").json()
    assert (moved["enabled"], moved["action"]["categoryId"], moved["action"]["plType"]) == (True, hosting, "cogs")
    other = api.post("categories", {"name": "Other", "plTypes": ["ga"]}).json()["id"]
    unlike = create_rule(action={"categoryId": other})
    assert api.delete(f"categories/{other}?replaceWith={several}").status_code == 200
    off = api.get(f"categorization_rules/{unlike['id']}").json()
    assert (off["disabledReason"], off["action"]["categoryId"]) == ("plTypeLost", several)


def test_deleted_account_disables_its_rules(api, bank, savings, create_rule):
    made = create_rule({"accountIds": [bank, savings]})
    assert api.delete(f"accounts/{savings}").status_code == 200
    off = api.get(f"categorization_rules/{made['id']}").json()
    assert (off["enabled"], off["disabledReason"]) == (False, "accountDeleted")
    assert off["conditions"]["accountIds"] == [bank]


def test_counterparty_of_rule_cannot_be_deleted(api, create_rule):
    vendor = api.post("counterparties", {"type": "vendor", "name": "Nimbus"}).json()["id"]
    made = create_rule({"counterpartyId": vendor})
    assert api.delete(f"counterparties/{vendor}").json()["code"] == "counterparty_in_use"
    assert api.delete(f"categorization_rules/{made['id']}").status_code == 200
    assert api.delete(f"counterparties/{vendor}").status_code == 200


def test_rules_over_company_limit_are_rejected(api, create_rule, monkeypatch):
    monkeypatch.setattr("ledger.rules.actions.categorization_rules.MAX_RULES", 1)
    made = create_rule()
    answer = api.post("categorization_rules", {name: made[name] for name in ("name", "conditions", "action")})
    assert (answer.status_code, answer.json()["code"]) == (409, "too_many_rules")
