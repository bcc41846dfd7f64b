"""Importing transactions over HTTP."""

import gc
from decimal import Decimal
from types import FrameType

import pytest

from ledger.models import Categorization, Category, Counterparty, DayMovement, ImportBatch, MonthResult, Transaction

pytestmark = pytest.mark.django_db


def build_item(bank, **values):
    return {
        "accountId": bank,
        "date": "2024-03-01",
        "fromTo": "Café",
        "description": "Coffee",
        "amountValue": "-3.50",
        "amountCurrency": "EUR",
    } | values


def import_items(api, *items, **options):
    return api.post("transactions/import", {"transactions": list(items), **options})


def test_import_stores_rows_and_returns_count(api, bank):
    answer = import_items(
        api, build_item(bank), build_item(bank, amountValue="1000", description="tab\there\\ \n new line")
    )
    assert answer.status_code == 200, answer.content
    body = answer.json()
    assert body["importId"] == str(ImportBatch.objects.get().id)
    assert body | {"importId": None} == {
        "success": True,
        "count": 2,
        "skippedBeforeDataStart": 0,
        "skippedClosed": 0,
        "dataStartDate": None,
        "importId": None,
        "duplicates": 0,
        "possibleDuplicates": 0,
        "errors": [],
        "dryRun": False,
    }
    texts = set(Transaction.objects.values_list("description", flat=True))
    assert texts == {"Coffee", "tab\there\\ \n new line"}


def test_import_leaves_no_cycle_that_holds_its_body(api, bank):
    """Python would free the body only at some later time, and the next imports would take more memory."""
    gc.collect()
    gc.set_debug(gc.DEBUG_SAVEALL)
    try:
        import_items(api, build_item(bank))
        gc.collect()
        held = [each.f_code.co_qualname for each in gc.garbage if type(each) is FrameType]
    finally:
        gc.set_debug(0)
        gc.garbage.clear()
    assert not held


def test_rows_before_the_data_start_are_skipped(api, bank):
    api.put("", {"dataStartDate": "2024-03-02"})
    body = import_items(api, build_item(bank), build_item(bank, date="2024-03-02")).json()
    assert (body["count"], body["skippedBeforeDataStart"], body["dataStartDate"]) == (1, 1, "2024-03-02")


def test_reimport_adds_nothing_and_keeps_equal_rows_separate(api, bank):
    file = [build_item(bank), build_item(bank), build_item(bank, amountValue="-4.00")]
    assert import_items(api, *file, duplicates="skip").json()["count"] == 3
    again = import_items(api, *file, duplicates="skip").json()
    assert (again["count"], again["duplicates"], again["importId"]) == (0, 3, None)
    third = import_items(api, *file, build_item(bank), duplicates="skip").json()
    assert (third["count"], third["duplicates"]) == (1, 3)


def test_known_external_id_is_a_duplicate_within_and_between_imports(api, bank):
    body = import_items(
        api, build_item(bank, externalId="a"), build_item(bank, externalId="a"), build_item(bank, externalId="b")
    ).json()
    assert (body["count"], body["duplicates"]) == (2, 1)
    assert import_items(api, build_item(bank, externalId="b")).json()["duplicates"] == 1
    other = api.post("accounts", {"type": "cash", "name": "Till"}).json()["id"]
    assert import_items(api, build_item(other, externalId="b")).json()["count"] == 1


def test_dry_run_returns_result_and_stores_nothing(api, bank):
    body = import_items(api, build_item(bank), dryRun=True).json()
    assert (body["count"], body["dryRun"], body["importId"]) == (1, True, None)
    assert not Transaction.objects.exists()
    assert not ImportBatch.objects.exists()


def test_empty_import_stores_nothing(api):
    assert import_items(api).json()["count"] == 0


INVALID_ITEMS = [
    ({"date": "2024-02-30"}, "date", "invalid_date"),
    ({"date": "01.02.2024"}, "date", "invalid_date"),
    ({"date": 20240201}, "date", "invalid_value"),
    ({"amountValue": "1,50"}, "amountValue", "invalid_decimal"),
    ({"amountValue": "1e3"}, "amountValue", "invalid_decimal"),
    ({"amountValue": ""}, "amountValue", "invalid_decimal"),
    ({"amountValue": "1234567890123456"}, "amountValue", "invalid_decimal"),
    ({"amountValue": "0.00001"}, "amountValue", "invalid_decimal"),
    ({"amountValue": 12.5}, "amountValue", "invalid_decimal"),
    ({"amountValue": None}, "amountValue", "invalid_decimal"),
    ({"amountValue": "1.001"}, "amountValue", "too_many_decimals"),
    ({"amountCurrency": "JPY", "amountValue": "1.0"}, "amountValue", "too_many_decimals"),
    ({"amountCurrency": "XXX"}, "amountCurrency", "invalid_choice"),
    ({"accountId": "nope"}, "accountId", "unknown_id"),
    ({"accountId": "00000000-0000-7000-8000-000000000000"}, "accountId", "unknown_id"),
    ({"description": "nul \0"}, "description", "invalid_characters"),
    ({"description": "x" * 10_001}, "description", "too_long"),
    ({"fromTo": 1}, "fromTo", "invalid_value"),
    ({"externalId": ""}, "externalId", "must_not_be_empty"),
    ({"pending": "yes"}, "pending", "invalid_value"),
]


def test_invalid_row_is_pointed_at_and_nothing_is_stored(api, bank):
    for values, field, code in INVALID_ITEMS:
        answer = import_items(api, build_item(bank), build_item(bank, **values))
        assert answer.status_code == 400, values
        assert answer.json()["code"] == "validation_failed", values
        assert [(e["pointer"], e["code"]) for e in answer.json()["errors"]] == [(f"#/transactions/1/{field}", code)], (
            values
        )
        assert not Transaction.objects.exists(), values
        assert not DayMovement.objects.exists(), values


def test_on_error_skip_stores_valid_rows_and_reports_invalid_ones(api, bank):
    for values, field, code in INVALID_ITEMS:
        body = import_items(api, build_item(bank, **values), build_item(bank), onError="skip").json()
        assert body["count"] == 1, values
        assert [(e["pointer"], e["code"]) for e in body["errors"]] == [(f"#/transactions/0/{field}", code)], values


def test_invalid_import_body_is_rejected(api):
    for body, pointer, code in [
        ({}, "#/transactions", "required"),
        ([], "#", "invalid_value"),
        ({"transactions": {}}, "#/transactions", "invalid_value"),
        ({"transactions": [], "dryRun": "yes"}, "#/dryRun", "invalid_value"),
        ({"transactions": [], "onError": "stop"}, "#/onError", "invalid_value"),
        ({"transactions": [1]}, "#/transactions/0", "invalid_value"),
        ({"transactions": [{}] * 100_001}, "#/transactions", "too_many_items"),
    ]:
        answer = api.post("transactions/import", body)
        assert answer.status_code == 400, body
        assert (answer.json()["errors"][0]["pointer"], answer.json()["errors"][0]["code"]) == (pointer, code), body


def test_non_json_body_returns_400(api):
    for body in [b"{", b'{"transactions": [NaN]}', b"\xff", b"\x00", b'{"transactions": ["\xed\xa0\x80"]}']:
        answer = api.client.generic(
            "POST", api.path("transactions/import"), body, content_type="application/json", headers=api.headers
        )
        assert (answer.status_code, answer.json()["code"]) == (400, "invalid_json"), body


def test_wrong_media_type_returns_415_and_oversized_body_413(api, settings):
    path = api.path("transactions/import")
    assert api.client.post(path, b"a,b", content_type="text/csv", headers=api.headers).status_code == 415
    settings.MAX_UPLOAD_MB = 0
    assert api.post("transactions/import", {"transactions": []}).status_code == 413


def test_empty_currency_is_rejected_but_null_uses_account_currency(api, bank):
    """To leave it out means the account's; to send an empty one is a mistake, here as in POST transactions."""
    for answer, position in (
        (import_items(api, build_item(bank, amountCurrency="")), "#/transactions/0/amountCurrency"),
        (api.post("transactions", build_item(bank, amountCurrency="")), "#/amountCurrency"),
    ):
        assert answer.status_code == 400
        assert [(each["pointer"], each["code"]) for each in answer.json()["errors"]] == [(position, "invalid_choice")]
    assert import_items(api, build_item(bank, amountCurrency=None)).json()["count"] == 1


def test_unknown_fields_are_ignored_and_named(api, bank):
    answer = import_items(api, build_item(bank, colour="red"), shape="round")
    assert answer.json()["count"] == 1
    assert answer["Ignored-Fields"] == "shape, transactions/0/colour"


def test_import_returns_at_most_a_thousand_errors(api, bank):
    answer = import_items(api, *[build_item(bank, amountValue="x")] * 1500)
    assert len(answer.json()["errors"]) == 1000


@pytest.fixture
def hosting(api):
    return str(Category.objects.for_company(api.company.id).get(system_key="hosting").id)


def test_import_item_can_carry_its_category(api, bank, hosting, audit_context):
    vendor = Counterparty(company=api.company, type="vendor", name="Cloud").mark_created(audit_context)
    vendor.save(force_insert=True)
    item = build_item(bank, categoryId=hosting, counterparty={"type": "vendor", "id": str(vendor.id)})
    assert import_items(api, item, build_item(bank)).json()["count"] == 2
    (part,) = Categorization.objects.all()
    assert (str(part.category_id), part.split, part.counterparty_id) == (hosting, {"cogs": Decimal("-3.5")}, vendor.id)
    assert {t.is_open for t in Transaction.objects.all()} == {True, False}
    bars = MonthResult.objects.exclude(count=0)
    assert [(str(b.month), b.pl_type, b.base_amount) for b in bars] == [("2024-03-01", "cogs", Decimal("-3.5"))]


def test_invalid_item_category_is_pointed_at(api, bank, hosting, audit_context):
    several = Category(company=api.company, name="Both", pl_types=["cogs", "ga"]).mark_created(audit_context)
    several.save(force_insert=True)
    named = {"hosting": hosting, "several": str(several.id)}
    for values, field, code in [
        ({"categoryId": "nope"}, "categoryId", "unknown_id"),
        ({"plType": "cogs"}, "plType", "category_needed"),
        ({"counterparty": {"id": "x", "type": "vendor"}}, "counterparty", "category_needed"),
        ({"categoryId": "hosting", "plType": "revenue"}, "plType", "pl_type_not_allowed"),
        ({"categoryId": "hosting", "counterparty": {"id": "x"}}, "counterparty/id", "unknown_id"),
        ({"categoryId": "several"}, "plType", "pl_type_needed"),
    ]:
        category = {"categoryId": named.get(values.get("categoryId"), values.get("categoryId"))}
        answer = import_items(api, build_item(bank, **values | category))
        assert [(e["pointer"], e["code"]) for e in answer.json()["errors"]] == [(f"#/transactions/0/{field}", code)], (
            values
        )
        assert not Transaction.objects.exists(), values


def test_import_by_api_key_notifies_owners(api, bank, alice, sign_in_browser):
    body = import_items(api, build_item(bank)).json()
    (answer,) = [
        n for n in sign_in_browser(alice, api.company).get("notifications").json() if n["type"] == "import.finished"
    ]
    assert answer["payload"]["entityId"] == body["importId"]
    assert answer["payload"]["count"] == 1
