"""Categories and counterparties over HTTP."""

import pytest

from ledger.models import Account, Category, Counterparty, MonthResult
from ledger.recognition.actions import postings
from tests.ledger.conftest import get_error_codes

pytestmark = pytest.mark.django_db

KEYS = {
    "revenue": ["revenueRecurring", "revenueOneOff", "revenueUsage", "revenueOther"],
    "cogs": ["hosting", "support", "paymentFees"],
    "cac": ["marketing", "sales"],
    "pd": ["productDevelopment"],
    "ga": ["officeAndAdmin", "professionalServices"],
    "no": ["interest", "incomeTax", "grants"],
    "neutral": ["transfer", "initialBalance", "taxPayments", "financing"],
}


def test_company_starts_with_system_categories(api):
    rows = api.get("categories").json()
    assert [(each["plTypes"], each["systemKey"]) for each in rows] == [
        ([line], key) for line, keys in KEYS.items() for key in keys
    ]
    assert all(each["system"] and each["used"] == 0 for each in rows)
    assert set(rows[0]) == {
        *(
            "id",
            "companyId",
            "name",
            "emoji",
            "plTypes",
            "system",
            "systemKey",
            "financing",
            "order",
            "createdTime",
            "createdUserId",
        ),
        *("lastUpdatedTime", "lastUpdatedUserId", "used", "usedTransactions", "usedPlannedTransactions"),
    }


def test_only_equity_and_loans_category_is_financing_by_default(api):
    rows = api.get("categories").json()
    assert [(each["name"], each["plTypes"]) for each in rows if each["financing"]] == [
        ("Equity and loans", ["neutral"])
    ]
    assert api.post("categories", {"name": "Grants", "plTypes": ["no"]}).json()["financing"] is False
    refused = api.post("categories", {"name": "Grants", "plTypes": ["no"], "financing": "yes"})
    assert refused.status_code == 400
    assert refused.json()["errors"][0]["pointer"] == "#/financing"


def test_category_can_be_created_read_changed_and_deleted(api):
    made = api.post("categories", {"name": "Travel", "emoji": "✈️", "plTypes": ["ga", "cac", "ga"], "order": 50})
    assert made.status_code == 201, made.content
    body = made.json()
    assert body["plTypes"] == ["cac", "ga"]
    assert body["system"] is False
    assert body["systemKey"] is None
    path = f"categories/{body['id']}"
    assert made["Location"].endswith(path)
    assert api.get(path).json() == body
    assert api.put(path, {"name": "Trips"}).json()["name"] == "Trips"
    assert api.delete(path).json() == {"success": True}
    assert api.get(path).status_code == 404


def test_invalid_category_is_rejected(api, acme):
    before = Category.objects.for_company(acme.id).count()
    for body, pointer, code in [
        ({"plTypes": ["ga"]}, "#/name", "required"),
        ({"name": "", "plTypes": ["ga"]}, "#/name", "blank"),
        ({"name": "x"}, "#/plTypes", "required"),
        ({"name": "x", "plTypes": []}, "#/plTypes", "must_not_be_empty"),
        ({"name": "x", "plTypes": ["profit"]}, "#/plTypes/0", "invalid_choice"),
        ({"name": "x", "plTypes": "ga"}, "#/plTypes", "invalid_value"),
        ({"name": "x", "plTypes": ["ga"], "order": 8388608}, "#/order", "out_of_range"),
        ({"name": "x", "plTypes": ["ga"], "order": "1"}, "#/order", "invalid_value"),
    ]:
        answer = api.post("categories", body)
        assert answer.status_code == 400, body
        assert get_error_codes(answer) == {pointer: code}, body
        assert Category.objects.for_company(acme.id).count() == before, body


def test_system_category_can_be_renamed_and_reordered_but_not_deleted(api, books):
    path = f"categories/{books.get_category_id('hosting')}"
    renamed = api.put(path, {"name": "Servers", "order": -5, "plTypes": ["cogs"]})
    assert (renamed.json()["name"], renamed.json()["order"]) == ("Servers", -5)
    for refused in (api.delete(path), api.put(path, {"plTypes": ["ga"]}), api.delete(f"{path}?replaceWith=x")):
        assert refused.status_code in (400, 409)
    assert api.delete(path).json()["code"] == "category_is_system"
    assert api.put(path, {"plTypes": ["ga"]}).json()["code"] == "category_is_system"
    assert api.get(path).json()["plTypes"] == ["cogs"]


@pytest.fixture
def travel(api):
    return api.post("categories", {"name": "Travel", "plTypes": ["ga", "cac"]}).json()["id"]


def test_category_usage_counts_transactions_with_one_query(api, books, bank, travel, django_assert_num_queries):
    one = books.create_transaction(bank)["id"]
    books.set_categorizations(
        one, {"categoryId": travel, "plSplit": {"ga": -10}}, {"categoryId": travel, "plSplit": {"cac": -10}}
    )
    books.set_categorizations(books.create_transaction(bank)["id"], {"categoryId": travel, "plSplit": {"ga": -10}})
    api.get("categories")
    with django_assert_num_queries(2):  # the key's, and the list
        rows = api.get("categories").json()
    category = next(each for each in rows if each["id"] == travel)
    assert (category["used"], category["usedTransactions"], category["usedPlannedTransactions"]) == (2, 2, 0)


def test_category_in_use_is_deleted_only_with_a_replacement(api, books, bank, travel, acme):
    made = books.create_transaction(bank)["id"]
    books.set_categorizations(made, {"categoryId": travel, "plSplit": {"ga": -10}})
    account = books.create_account(name="Cards", defaultCategoryId=travel)
    refused = api.delete(f"categories/{travel}")
    assert (refused.status_code, refused.json()["code"]) == (409, "category_in_use")
    hosting, office = books.get_category_id("hosting"), books.get_category_id("officeAndAdmin")
    lacking = api.delete(f"categories/{travel}?replaceWith={hosting}")
    assert get_error_codes(lacking) == {"#/replaceWith": "pl_type_not_allowed"}
    for unknown in ("x", "00000000-0000-7000-8000-000000000000", travel):
        assert get_error_codes(api.delete(f"categories/{travel}?replaceWith={unknown}")) == {
            "#/replaceWith": "unknown_id"
        }
    assert books.list_categorizations(made)[0]["categoryId"] == travel
    assert api.delete(f"categories/{travel}?replaceWith={office}").json() == {"success": True}
    assert books.list_categorizations(made)[0]["categoryId"] == office
    assert str(Account.objects.get(id=account).default_category_id) == office
    (month,) = MonthResult.objects.for_company(acme.id).exclude(count=0)
    assert (str(month.category_id), month.base_amount) == (office, -10)
    assert postings.find_posting_differences(acme.id) == []


def test_deleting_default_category_changes_account_etag(api, books, travel):
    path = f"accounts/{books.create_account(defaultCategoryId=travel)}"
    etag = api.get(path)["ETag"]
    assert api.delete(f"categories/{travel}").status_code == 200
    answer = api.get(path, if_none_match=etag)
    assert (answer.status_code, answer.json()["defaultCategoryId"]) == (200, None)


def test_category_line_in_use_cannot_be_removed(api, books, bank, travel):
    books.set_categorizations(books.create_transaction(bank)["id"], {"categoryId": travel, "plSplit": {"ga": -10}})
    refused = api.put(f"categories/{travel}", {"plTypes": ["cac"]})
    assert (refused.status_code, refused.json()["code"]) == (409, "pl_type_in_use")
    assert api.put(f"categories/{travel}", {"plTypes": ["ga", "pd"]}).json()["plTypes"] == ["pd", "ga"]


def test_category_list_takes_no_parameters(api):
    assert get_error_codes(api.get("categories", {"limit": 5})) == {"#/limit": "unknown_parameter"}
    assert get_error_codes(api.get("counterparties", {"limit": 5})) == {"#/limit": "unknown_parameter"}


# ---------------------------------------------------------------------------------------------- counterparties


def test_counterparty_can_be_created_read_changed_and_deleted(api):
    made = api.post("counterparties", {"type": "vendor", "name": "Nimbus", "externalId": "v1"})
    assert made.status_code == 201, made.content
    path = f"counterparties/{made.json()['id']}"
    assert made["Location"].endswith(path)
    assert api.get(path).json() == made.json()
    assert [each["name"] for each in api.get("counterparties").json()] == ["Nimbus"]
    assert api.put(path, {"name": "Nimbus Inc", "type": "other"}).json()["type"] == "other"
    assert api.delete(path).json() == {"success": True}
    assert api.get("counterparties").json() == []


def test_counterparty_external_id_is_unique_within_its_type(api):
    body = {"type": "vendor", "name": "A", "externalId": "1"}
    api.post("counterparties", body)
    assert api.post("counterparties", body | {"type": "customer"}).status_code == 201
    refused = api.post("counterparties", body | {"name": "B"})
    assert (refused.status_code, refused.json()["code"]) == (409, "external_id_taken")
    assert Counterparty.objects.count() == 2


@pytest.mark.parametrize(
    ("body", "pointer", "code"),
    [
        ({"name": "x"}, "#/type", "required"),
        ({"name": "x", "type": "friend"}, "#/type", "invalid_choice"),
        ({"type": "vendor"}, "#/name", "required"),
        ({"type": "vendor", "name": 5}, "#/name", "invalid_value"),
    ],
)
def test_invalid_counterparty_is_rejected(api, body, pointer, code):
    assert get_error_codes(api.post("counterparties", body)) == {pointer: code}
    assert not Counterparty.objects.exists()


def test_counterparty_type_change_updates_related_resources_and_etags(api, books, bank):
    vendor = api.post("counterparties", {"type": "vendor", "name": "V"}).json()["id"]
    made = books.create_transaction(bank)["id"]
    books.set_categorizations(
        made, {"categoryId": books.get_category_id("hosting"), "plSplit": {"cogs": -1}, "counterparty": {"id": vendor}}
    )
    plan = {
        "accountId": bank,
        "name": "p",
        "startDate": "2026-01-01",
        "amountValue": "-5",
        "counterparty": {"id": vendor},
    }
    planned = api.post("planned_transactions", plan).json()["id"]
    paths = (f"transactions/{made}", f"planned_transactions/{planned}")
    tags = [api.get(path)["ETag"] for path in paths]
    assert api.put(f"counterparties/{vendor}", {"type": "employee"}).status_code == 200
    for path, tag in zip(paths, tags, strict=True):
        answer = api.get(path, if_none_match=tag)
        assert answer.status_code == 200
        assert '"employee"' in answer.content.decode()


def test_counterparty_in_use_cannot_be_deleted(api, books, bank):
    vendor = api.post("counterparties", {"type": "vendor", "name": "V"}).json()["id"]
    part = {"categoryId": books.get_category_id("hosting"), "plSplit": {"cogs": -1}, "counterparty": {"id": vendor}}
    books.set_categorizations(books.create_transaction(bank)["id"], part)
    refused = api.delete(f"counterparties/{vendor}")
    assert (refused.status_code, refused.json()["code"]) == (409, "counterparty_in_use")
    assert Counterparty.objects.exists()
    assert len(api.get("transactions", {"counterpartyId": vendor}).json()) == 1
