"""Rules that split the amount, set a service period, or take the counterparty from the transaction."""

from decimal import Decimal

import pytest

from tests.ledger.conftest import get_error_codes, list_month_results, list_pl_amounts
from tests.ledger.rules.test_auto_assign import apply_rules, build_item, get_assignment, import_items, preview_rule

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("check_derived_rows")]

NIMBUS = {"text": {"operator": "contains", "value": "nimbus"}}
CONTRADICTING = "contradicting_fields"


@pytest.fixture
def create_rule(api, hosting):
    """Create a rule for transactions with "nimbus" in a text."""

    def create(conditions=None, **action):
        body = {"name": "Nimbus", "conditions": conditions or NIMBUS, "action": {"categoryId": hosting} | action}
        answer = api.post("categorization_rules", body)
        assert answer.status_code == 201, answer.content
        return answer.json()

    return create


def list_parts(transaction):
    """(category, amounts, tax) of each part, in order."""
    parts = transaction["categorizations"].values()
    return [(part["categoryId"], list_pl_amounts(part), part["passThroughTax"]) for part in parts]


def test_rule_with_splits_is_returned_and_can_be_sent_back(api, hosting, office, create_rule):
    made = create_rule(splits=[{"categoryId": office, "percent": 30}, {"categoryId": hosting, "amountValue": "5"}])
    assert made["action"]["splits"] == [
        {"categoryId": office, "plType": "ga", "percent": 30, "amountValue": None},
        {"categoryId": hosting, "plType": "cogs", "percent": None, "amountValue": "5.00"},
    ]
    path = f"categorization_rules/{made['id']}"
    assert api.put(path, made).json() == made
    assert api.get("categorization_rules").json() == [made]
    fewer = made["action"] | {"splits": made["action"]["splits"][1:]}
    changed = api.put(path, {"action": fewer})
    assert changed.json()["action"] == fewer
    assert changed.json()["lastUpdatedTime"] >= made["lastUpdatedTime"]
    (entry, *_) = [each for each in api.get("audit_log").json() if each["action"] == "categorizationRule.updated"]
    assert entry["after"]["splits"] == [{"category_id": hosting, "pl_type": "cogs", "amount_value": "5"}]
    assert api.put(path, {"action": {"categoryId": hosting}}).json()["action"]["splits"] == []


def test_rule_splits_new_transactions(api, books, bank, acme, hosting, office, create_rule):
    sales = books.get_category_id("sales")
    made = create_rule(
        splits=[{"categoryId": office, "percent": 50}, {"categoryId": sales, "amountValue": "10.00"}],
        passThroughTaxPercent=25,
    )
    items = import_items(api, build_item(bank, amount="-100.01"), build_item(bank, "nimbus small", amount="-19.99"))
    assert get_assignment(items["Nimbus Ltd"]) == (True, [f"rule:{made['id']}"] * 3)
    assert list_parts(items["Nimbus Ltd"]) == [
        (hosting, {"cogs": -32}, -8),
        (office, {"ga": -40.01}, -10),
        (sales, {"cac": -8}, -2),
    ]
    assert get_assignment(items["nimbus small"]) == (False, [])
    assert api.get("categorization_rules").json()[0]["matchedCount"] == 1
    months = {("2026-03", "cogs"): -32, ("2026-03", "ga"): Decimal("-40.01"), ("2026-03", "cac"): -8}
    assert list_month_results(acme) == months


def test_split_of_the_whole_amount_leaves_nothing_for_the_own_category(api, books, bank, office, create_rule):
    sales = books.get_category_id("sales")
    create_rule(splits=[{"categoryId": office, "percent": 50}, {"categoryId": sales, "percent": 50}])
    row = books.create_transaction(bank, "4.55", fromTo="nimbus")
    assert list_parts(row) == [(office, {"ga": 2.28}, None), (sales, {"cac": 2.27}, None)]


def test_preview_apply_and_undo_know_splits(api, books, bank, acme, hosting, office, create_rule):
    row = books.create_transaction(bank, "-100.00", fromTo="nimbus")["id"]
    tried = {"conditions": NIMBUS, "action": {"categoryId": hosting, "splits": [{"categoryId": office, "percent": 40}]}}
    assert preview_rule(api, rule=tried)["changed"] == 1
    assert books.list_categorizations(row) == []
    first = create_rule(splits=[{"categoryId": office, "percent": 40}])
    runs = [apply_rules(api)]
    assert (runs[0]["affected"], apply_rules(api)["affected"]) == (1, 0)
    assert list_parts(books.get_transaction(row)) == [(hosting, {"cogs": -60}, None), (office, {"ga": -40}, None)]
    path = f"categorization_rules/{first['id']}"
    api.put(path, {"action": first["action"] | {"splits": [{"categoryId": office, "percent": 30}]}})
    assert preview_rule(api)["changed"] == 1
    runs.append(apply_rules(api))
    assert list_parts(books.get_transaction(row)) == [(hosting, {"cogs": -70}, None), (office, {"ga": -30}, None)]
    back = api.delete(f"categorization_runs/{runs[1]['runId']}").json()
    assert (back["affected"], back["keptCount"]) == (1, 0)
    assert list_parts(books.get_transaction(row)) == [(hosting, {"cogs": -60}, None), (office, {"ga": -40}, None)]
    back = api.delete(f"categorization_runs/{runs[0]['runId']}").json()
    assert (back["affected"], back["keptCount"], books.list_categorizations(row)) == (1, 0, [])
    assert api.get("categorization_rules").json()[0]["matchedCount"] == 0
    assert list_month_results(acme) == {}


def test_split_follows_the_amount_of_an_edited_transaction(api, books, bank, hosting, office, create_rule):
    made = create_rule(splits=[{"categoryId": office, "amountValue": "40.00"}])
    row = books.create_transaction(bank, "-100.00", fromTo="nimbus")["id"]
    changed = api.put(f"transactions/{row}", {"amountValue": "-50.00"}).json()
    assert list_parts(changed) == [(hosting, {"cogs": -10}, None), (office, {"ga": -40}, None)]
    api.delete(f"categorization_rules/{made['id']}")
    changed = api.put(f"transactions/{row}", {"amountValue": "-100.00"}).json()
    assert list_parts(changed) == [(hosting, {"cogs": -20}, None), (office, {"ga": -80}, None)]
    assert changed["categorizationsAutoAssigned"]


def test_transaction_too_small_for_its_split_is_uncategorized(api, books, bank, office, create_rule):
    create_rule(splits=[{"categoryId": office, "amountValue": "40.00"}])
    row = books.create_transaction(bank, "-100.00", fromTo="nimbus")["id"]
    changed = api.put(f"transactions/{row}", {"amountValue": "-30.00"})
    assert get_assignment(changed.json()) == (False, [])
    assert changed["ETag"] == api.get(f"transactions/{row}")["ETag"]


def test_service_period_is_counted_from_each_transaction(api, books, bank, acme, create_rule):
    made = create_rule(servicePeriod={"months": 3, "start": "payment"})
    assert made["action"]["servicePeriod"] == {"months": 3, "start": "payment"}
    nimbus_ltd = import_items(api, build_item(bank, amount="-92.00", date="2026-01-01"))["Nimbus Ltd"]
    (part,) = nimbus_ltd["categorizations"].values()
    days = {"startDate": "2026-01-01", "endDate": "2026-03-31"}
    assert part["usingDateRule"] == {"type": "servicePeriod", "invoiceDate": None, "recognizeFrom": None, **days}
    assert (part["computedStartDate"], part["computedEndDate"]) == (days["startDate"], days["endDate"])
    assert sorted(list_month_results(acme)) == [("2026-01", "cogs"), ("2026-02", "cogs"), ("2026-03", "cogs")]
    assert apply_rules(api)["affected"] == 0
    moved = api.put(f"transactions/{nimbus_ltd['id']}", {"date": "2026-02-15"}).json()
    (part,) = moved["categorizations"].values()
    assert (part["computedStartDate"], part["computedEndDate"]) == ("2026-02-15", "2026-05-14")
    assert moved["categorizationsAutoAssigned"]


def test_service_period_can_start_with_the_next_month(api, books, bank, create_rule):
    create_rule(servicePeriod={"months": 12, "start": "nextMonth"})
    (part,) = books.create_transaction(bank, date="2026-03-31", fromTo="nimbus")["categorizations"].values()
    assert (part["computedStartDate"], part["computedEndDate"]) == ("2026-04-01", "2027-03-31")


def test_rule_takes_counterparty_from_transaction(api, books, bank, create_rule):
    known = api.post("counterparties", {"type": "other", "name": "Café Nimbus"}).json()["id"]
    create_rule(counterpartyFrom="fromTo")
    items = [
        build_item(bank, "CAFE  NIMBUS"),
        build_item(bank, " Nimbus Ltd ", amount="7.00"),
        build_item(bank, "nimbus ltd", amount="-8.00"),
        build_item(bank, "", description="nimbus"),
    ]
    result = import_items(api, *items)
    parts = {(name or "").strip(): next(iter(each["categorizations"].values())) for name, each in result.items()}
    listed = {each["id"]: (each["name"], each["type"]) for each in api.get("counterparties").json()}
    assert listed == {
        known: ("Café Nimbus", "other"),
        parts["Nimbus Ltd"]["counterparty"]["id"]: ("Nimbus Ltd", "customer"),
    }
    assert parts["CAFE  NIMBUS"]["counterparty"] == {"type": "other", "id": known}
    assert parts["nimbus ltd"]["counterparty"] == parts["Nimbus Ltd"]["counterparty"]
    assert parts[""]["counterparty"] is None
    assert apply_rules(api)["affected"] == 0


def test_preview_creates_no_counterparty(api, books, bank, hosting, create_rule):
    books.create_transaction(bank, fromTo="Nimbus Ltd")
    tried = {"conditions": NIMBUS, "action": {"categoryId": hosting, "counterpartyFrom": "fromTo"}}
    assert preview_rule(api, rule=tried)["changed"] == 1
    assert api.get("counterparties").json() == []
    create_rule(counterpartyFrom="fromTo")
    assert apply_rules(api)["affected"] == 1
    assert [each["type"] for each in api.get("counterparties").json()] == ["vendor"]


def test_rule_that_creates_counterparties_needs_their_permission(api, acme, make_api, hosting, create_rule):
    writer = make_api(acme, "transactions:read", "transactions:write")
    body = {"name": "x", "conditions": NIMBUS, "action": {"categoryId": hosting, "counterpartyFrom": "fromTo"}}
    assert writer.post("categorization_rules", body).status_code == 403
    made = create_rule()
    path = f"categorization_rules/{made['id']}"
    assert writer.put(path, {"action": body["action"]}).status_code == 403
    assert api.put(path, {"action": body["action"]}).status_code == 200
    assert writer.put(path, {"name": "Renamed"}).json()["action"]["counterpartyFrom"] == "fromTo"


INVALID_ACTIONS = [
    ("no share", {"splits": [{}]}, {"splits/0/percent": "required"}),
    ("two shares", {"splits": [{"percent": 1, "amountValue": "1"}]}, {"splits/0/amountValue": CONTRADICTING}),
    ("nothing", {"splits": [{"percent": 0}, {"amountValue": "0"}]},
     {"splits/0/percent": "out_of_range", "splits/1/amountValue": "out_of_range"}),
    ("more than all", {"splits": [{"percent": 60}, {"percent": 40.0001}]}, {"splits/1/percent": "out_of_range"}),
    ("nothing left", {"splits": [{"percent": 100}, {"amountValue": "1"}]}, {"splits/1/amountValue": "out_of_range"}),
    ("a negative amount", {"splits": [{"amountValue": "-1"}]}, {"splits/0/amountValue": "out_of_range"}),
    ("exact amounts", {"splits": [{"amountValue": "1.001"}]}, {"splits/0/amountValue": "too_many_decimals"}),
    ("exact percents", {"splits": [{"percent": 1.00001}]}, {"splits/0/percent": "too_many_decimals"}),
    ("a category", {"splits": [{"percent": 1, "categoryId": "x"}]}, {"splits/0/categoryId": "unknown_id"}),
    ("none", {"splits": [{"percent": 1, "categoryId": None}]}, {"splits/0/categoryId": "required"}),
    ("a line", {"splits": [{"percent": 1, "plType": "ga"}]}, {"splits/0/plType": "pl_type_not_allowed"}),
    ("many", {"splits": [{"percent": 1}] * 21}, {"splits": "too_long"}),
    ("no months", {"servicePeriod": {"months": 0, "start": "payment"}}, {"servicePeriod/months": "out_of_range"}),
    ("a start", {"servicePeriod": {"months": 1, "start": "now"}}, {"servicePeriod/start": "invalid_choice"}),
    ("two periods", {"servicePeriod": {"months": 1, "start": "payment"}, "usingDateRule": {"type": "month"}},
     {"servicePeriod": CONTRADICTING}),
    ("a source", {"counterpartyFrom": "description"}, {"counterpartyFrom": "invalid_choice"}),
    ("two counterparties", {"counterpartyFrom": "fromTo", "counterparty": {"id": "vendor"}},
     {"counterpartyFrom": CONTRADICTING}),
]  # fmt: skip


def test_invalid_action_is_rejected(api, hosting):
    for case, action, expected in INVALID_ACTIONS:
        if "counterparty" in action:
            action |= {"counterparty": api.post("counterparties", {"type": "vendor", "name": "N"}).json()["id"]}
            action["counterparty"] = {"id": action["counterparty"]}
        splits = [{"categoryId": hosting} | split for split in action.get("splits", [])]
        body = {"name": "x", "conditions": NIMBUS, "action": {"categoryId": hosting} | action | {"splits": splits}}
        for answer, start in [
            (api.post("categorization_rules", body), "#/action/"),
            (api.post("categorization_rules/preview", {"rule": body}), "#/rule/action/"),
        ]:
            error_codes = get_error_codes(answer)
            assert (answer.status_code, error_codes) == (
                400,
                {start + pointer: code for pointer, code in expected.items()},
            ), case


def test_amount_of_a_split_has_the_currency_of_the_conditions(api, hosting):
    action = {"categoryId": hosting, "splits": [{"categoryId": hosting, "amountValue": "1.50"}]}
    answer = api.post("categorization_rules", {"name": "x", "conditions": {"currency": "JPY"}, "action": action})
    assert get_error_codes(answer) == {"#/action/splits/0/amountValue": "too_many_decimals"}


def test_deleted_category_of_a_split_disables_the_rule(api, books, office, create_rule):
    own = api.post("categories", {"name": "Own", "plTypes": ["ga"]}).json()["id"]
    made = create_rule(splits=[{"categoryId": own, "percent": 10}])
    path = f"categorization_rules/{made['id']}"
    assert api.delete(f"categories/{own}").status_code == 200
    off = api.get(path).json()
    assert (off["enabled"], off["disabledReason"]) == (False, "categoryDeleted")
    assert off["action"]["categoryId"] == made["action"]["categoryId"]
    assert off["action"]["splits"] == [{"categoryId": None, "plType": "ga", "percent": 10, "amountValue": None}]
    assert api.put(path, off).json() == off
    assert get_error_codes(api.put(path, {"enabled": True})) == {"#/action/splits/0/categoryId": "required"}
    split = {"categoryId": office, "percent": 10}
    again = api.put(path, {"enabled": True, "action": off["action"] | {"splits": [split]}}).json()
    assert (again["enabled"], again["disabledReason"]) == (True, None)


def test_replaced_and_changed_categories_move_splits_along(api, create_rule):
    own = api.post("categories", {"name": "Own", "plTypes": ["ga", "pd"]}).json()["id"]
    other = api.post("categories", {"name": "Other", "plTypes": ["ga", "cac"]}).json()["id"]
    made = [create_rule(splits=[{"categoryId": own, "plType": line, "percent": 10}])["id"] for line in ("ga", "pd")]
    assert api.delete(f"categories/{own}?replaceWith={other}").status_code == 200
    moved, lost = (api.get(f"categorization_rules/{each}").json() for each in made)
    assert (moved["enabled"], moved["action"]["splits"][0]["categoryId"]) == (True, other)
    assert (lost["disabledReason"], lost["action"]["splits"][0]["categoryId"]) == ("plTypeLost", other)
    assert api.put(f"categories/{other}", {"plTypes": ["cac"]}).status_code == 200
    assert api.get(f"categorization_rules/{made[0]}").json()["disabledReason"] == "plTypeLost"


def test_split_is_not_assigned_in_a_closed_month(api, books, bank, office, create_rule):
    row = books.create_transaction(bank, "-100.00", date="2026-01-15", fromTo="nimbus")["id"]
    assert api.post("closings", {"month": "2026-01", "acknowledge": True}).status_code == 201
    create_rule(splits=[{"categoryId": office, "percent": 40}], servicePeriod={"months": 3, "start": "payment"})
    assert (preview_rule(api)["matched"], preview_rule(api)["changed"], apply_rules(api)["affected"]) == (1, 0, 0)
    assert books.list_categorizations(row) == []
