"""Fields that there are not, wherever they stand in a body: taken no notice of, and named by their paths."""

import pytest

from companies.api.limits import MAX_IGNORED_FIELDS_LENGTH

pytestmark = pytest.mark.django_db
RENT = {"name": "Rent", "startDate": "2026-01-31", "amountValue": "-10.00"}
END = {"type": "count", "count": 3}


@pytest.fixture
def account(bank):
    return bank


@pytest.fixture
def category(api):
    return api.get_category_id("hosting")


def get_ignored_fields(answer, status=200):
    assert answer.status_code == status, answer.content
    return answer.get("Ignored-Fields")


def test_ignored_field_in_nested_object_is_named_with_dotted_path(api, account):
    recurrence = {"frequency": "month", "every": 2, "end": END | {"til": 1}}
    body = RENT | {"accountId": account, "recurrence": recurrence, "colour": 1, "externalData": {"no": 1}}
    made = api.post("planned_transactions", body)
    assert get_ignored_fields(made, 201) == "recurrence.every, recurrence.end.til, colour, externalData.no"
    assert "every" not in made.json()["recurrence"]


def test_ignored_field_in_map_entry_is_named_with_path_of_its_key(api, account):
    body = RENT | {"accountId": account, "overrides": {"2026-01-31": {"label": "x", "name": "y"}}}
    assert get_ignored_fields(api.post("planned_transactions", body), 201) == "overrides/2026-01-31/label"


def test_ignored_fields_of_categorizations_are_named(api, account, category):
    row = api.post("transactions", {"accountId": account, "date": "2026-01-01", "amountValue": "-5.00"}).json()
    part = {"categoryId": category, "plSplit": {"cogs": -5}, "color": 1, "usingDateRule": {"type": "month", "start": 1}}
    answer = api.put(f"transactions/{row['id']}/categorizations", {"categorizations": {"a": part}, "more": 1})
    assert get_ignored_fields(answer) == "categorizations/a/color, categorizations/a/usingDateRule.start, more"
    again = api.put(f"transactions/{row['id']}/categorizations", {"categorizations": answer.json()["categorizations"]})
    assert get_ignored_fields(again) is None


def test_ignored_fields_of_selection_are_named(api, category):
    body = {"selection": {"mode": "ids", "ids": [], "idz": 1}, "categoryId": category, "counterpary": None}
    assert get_ignored_fields(api.post("transactions/categorize", body)) == "selection.idz, counterpary"


def test_ignored_fields_of_plan_item_are_named(api, category):
    amount = {"type": "fixed", "amount": {"value": 5, "currency": "EUR", "unit": 1}, "step": 1}
    body = {"month": "2026-01", "plType": "cogs", "categoryId": category, "amount": amount}
    assert get_ignored_fields(api.post("plan_items", body), 201) == "amount.amount.unit, amount.step"


def test_ignored_fields_of_import_items_are_named_by_index(api, account, category):
    coffee = {"accountId": account, "date": "2026-01-01", "amountValue": "-5.00"}
    who = api.post("counterparties", {"type": "vendor", "name": "Bar"}).json()["id"]
    bought = coffee | {"categoryId": category, "counterparty": {"id": who, "typ": 1}}
    rows = [coffee, coffee | {"foo": 1}, coffee, {"foo": 1} | bought]
    answer = api.post("transactions/import", {"transactions": rows, "dryRun": True, "drRun": 1})
    assert (
        get_ignored_fields(answer) == "drRun, transactions/1/foo, transactions/3/foo, transactions/3/counterparty.typ"
    )
    assert answer.json()["count"] == 4
    nested = [bought]  # nothing but what it holds has an unknown field
    assert (
        get_ignored_fields(api.post("transactions/import", {"transactions": nested}))
        == "transactions/0/counterparty.typ"
    )


def test_ignored_fields_of_imported_events_are_named_by_index(api):
    event = {"subscriptionExternalId": "s", "customerName": "Bar", "effectiveDate": "2026-01-01"}
    event |= {"amountValue": "5.00", "amountCurrency": "EUR"}
    body = {"events": [event, event | {"note": 1}], "dryRun": True}
    assert get_ignored_fields(api.post("subscription_events/import", body)) == "events/1/note"


def test_free_form_objects_accept_every_field(api, account):
    body = {"importSettings": {"csv": {"columns": {"date": 1}}, "other": {"x": 1}}}
    answer = api.put(f"accounts/{account}", body)
    assert get_ignored_fields(answer) is None
    assert answer.json()["importSettings"] == body["importSettings"]


def test_ignored_fields_header_is_limited_to_whole_names(api, account):
    coffee = {"accountId": account, "date": "2026-01-01", "amountValue": "-5.00", "foo": 1}
    named = get_ignored_fields(api.post("transactions/import", {"transactions": [coffee] * 3000, "dryRun": True}))
    assert len(named) <= MAX_IGNORED_FIELDS_LENGTH
    assert named.split(", ") == [f"transactions/{place}/foo" for place in range(named.count(",") + 1)]
    (long,) = {get_ignored_fields(api.post("transactions/import", {"transactions": [], "x" * 5000: 1}))}
    assert set(long) == {"x"}


def test_ignored_fields_header_escapes_unsafe_names(api, account):
    body = RENT | {"accountId": account, "recurrence": {"frequency": "month", "a\r\nX-B: c": 1, "schlüssel": 1}}
    named = get_ignored_fields(api.post("planned_transactions", body), 201)
    assert named.isascii()
    assert named.isprintable()
    assert "X-B" in named
