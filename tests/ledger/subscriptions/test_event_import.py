"""Importing subscription events over HTTP."""

import pytest

from companies.models import AuditEntry
from ledger.models import Counterparty, Product, ProductExternalId, Subscription, SubscriptionEvent
from tests import factories

pytestmark = pytest.mark.django_db
UNKNOWN_ID = "00000000-0000-7000-8000-000000000000"


@pytest.fixture
def subscription(api, acme):
    customer = factories.make_customer(acme, external_id="cus_1")
    return api.post("subscriptions", {"customerId": str(customer.id), "externalId": "sub_1"}).json()["id"]


def build_event(amount="10.00", day="2024-01-15", **more):
    return {"effectiveDate": day, "amountValue": amount, "amountCurrency": "EUR"} | more


def import_events(api, *items, **more):
    return api.post("subscription_events/import", {"events": list(items), **more})


def count_stored():
    return SubscriptionEvent.objects.count(), Subscription.objects.count(), Counterparty.objects.count()


def test_events_are_stored_in_order_of_the_file(api, acme, subscription):
    answer = import_events(
        api,
        build_event("10.00", subscriptionId=subscription, externalId="e1"),
        build_event("20.00", subscriptionId=subscription, committedDate="2023-12-01", interval="year", intervalCount=2),
        build_event("30.5", subscriptionExternalId="sub_1"),
    )
    assert answer.status_code == 200, answer.content
    assert answer.json() == {"success": True, "count": 3, "duplicates": 0, "errors": [], "dryRun": False}
    listed = api.get("subscription_events").json()
    assert [each["amountValue"] for each in listed] == ["30.50", "20.00", "10.00"]
    assert {each["subscriptionId"] for each in listed} == {subscription}
    assert (listed[1]["interval"], listed[1]["intervalCount"], listed[1]["committedDate"]) == ("year", 2, "2023-12-01")
    # Of events on one day the one further down counts.
    assert api.get(f"subscriptions/{subscription}").json()["currentAmountValue"] == "30.50"
    (entry,) = AuditEntry.objects.for_company(acme.id).filter(action="subscriptionEvents.imported")
    assert entry.after["count"] == 3


def test_missing_customers_subscriptions_and_products_are_created_once(api, acme):
    new = {"customerExternalId": "cus_7", "customerName": "Hooli", "productExternalId": "p_7", "productName": "Box"}
    answer = import_events(
        api,
        build_event(subscriptionExternalId="s_1", **new),
        build_event("20.00", subscriptionExternalId="s_1"),
        build_event(subscriptionExternalId="s_2", customerExternalId="cus_7", productExternalId="p_7"),
        build_event(subscriptionExternalId="s_3", customerName="Pied Piper", productName="Box"),
        build_event(subscriptionExternalId="s_4", customerName="Pied Piper"),
        build_event(subscriptionExternalId="s_5", customerExternalId="cus_8"),
    )
    assert answer.json()["count"] == 6, answer.content
    assert sorted(Counterparty.objects.for_company(acme.id).values_list("name", "external_id", "type")) == [
        ("Hooli", "cus_7", "customer"),
        ("Pied Piper", None, "customer"),
        ("cus_8", "cus_8", "customer"),
    ]
    assert Product.objects.for_company(acme.id).get().name == "Box"
    assert ProductExternalId.objects.for_company(acme.id).get().external_id == "p_7"
    by_customer = [each["customerId"] for each in api.get("subscriptions").json()][::-1]
    assert len(by_customer) == 5
    assert by_customer[0] == by_customer[1]
    assert by_customer[2] == by_customer[3]
    again = import_events(api, build_event(subscriptionExternalId="s_9", **new | {"customerName": "Other"}))
    assert again.json()["count"] == 1
    assert Counterparty.objects.count() == 3
    assert Product.objects.count() == 1


def test_known_external_id_is_a_duplicate(api, subscription):
    first = build_event(subscriptionId=subscription, externalId="e1")
    assert import_events(api, first, first, build_event(subscriptionId=subscription)).json() | {"errors": None} == {
        "success": True,
        "count": 2,
        "duplicates": 1,
        "errors": None,
        "dryRun": False,
    }
    again = import_events(api, first, build_event(subscriptionId=subscription, externalId="e2")).json()
    assert (again["count"], again["duplicates"]) == (1, 1)
    event = api.get("subscription_events?externalId=e1").json()[0]["id"]
    api.delete(f"subscription_events/{event}")
    assert import_events(api, first).json()["count"] == 1


def test_dry_run_returns_result_and_stores_nothing(api, subscription):
    before = count_stored()
    answer = import_events(
        api,
        build_event(subscriptionId=subscription),
        build_event(subscriptionExternalId="new", customerName="New"),
        build_event(subscriptionId=UNKNOWN_ID),
        dryRun=True,
        onError="skip",
    )
    assert answer.json()["count"] == 2
    assert answer.json()["dryRun"] is True
    assert len(answer.json()["errors"]) == 1
    assert count_stored() == before


def test_invalid_event_rejects_import_or_is_skipped(api, subscription):
    before = count_stored()
    rows = [
        build_event(subscriptionId=subscription),
        build_event("x", subscriptionId=subscription),
        build_event(subscriptionId=subscription, interval="decade"),
        build_event(subscriptionExternalId="new"),
        build_event(),
        {"subscriptionId": subscription},
        7,
    ]
    refused = import_events(api, *rows)
    assert refused.status_code == 400
    assert refused.json()["code"] == "validation_failed"
    answers = [(error["pointer"], error["code"]) for error in refused.json()["errors"]]
    assert answers == [
        ("#/events/1/amountValue", "invalid_decimal"),
        ("#/events/2/interval", "invalid_choice"),
        ("#/events/3/customerExternalId", "required"),
        ("#/events/4/subscriptionId", "required"),
        ("#/events/5/effectiveDate", "required"),
        ("#/events/5/amountValue", "required"),
        ("#/events/5/amountCurrency", "required"),
        ("#/events/6", "invalid_value"),
    ]
    assert count_stored() == before
    answer = import_events(api, *rows, onError="skip").json()
    assert answer["count"] == 1
    assert [(error["pointer"], error["code"]) for error in answer["errors"]] == answers
    assert count_stored() == (before[0] + 1, *before[1:])


def test_imported_event_is_validated_like_a_single_event(api, subscription):
    for change, pointer, code in [
        ({"amountValue": 10.5}, "amountValue", "invalid_decimal"),
        ({"amountValue": None}, "amountValue", "must_not_be_null"),
        ({"amountValue": "1e3"}, "amountValue", "invalid_decimal"),
        ({"amountValue": "1" * 16}, "amountValue", "invalid_decimal"),
        ({"amountValue": "0.001"}, "amountValue", "too_many_decimals"),
        ({"amountValue": "-5.00"}, "amountValue", "negative_amount"),
        ({"amountCurrency": "XXX"}, "amountCurrency", "invalid_choice"),
        ({"effectiveDate": "2023-02-29"}, "effectiveDate", "invalid_date"),
        ({"effectiveDate": "2023-02-28T00:00:00Z"}, "effectiveDate", "invalid_value"),
        ({"committedDate": "soon"}, "committedDate", "invalid_value"),
        ({"intervalCount": 1.0}, "intervalCount", "invalid_value"),
        ({"intervalCount": "1"}, "intervalCount", "invalid_value"),
        ({"intervalCount": 1001}, "intervalCount", "out_of_range"),
        ({"externalId": "a\0b"}, "externalId", "invalid_characters"),
        ({"externalId": "a" * 201}, "externalId", "too_long"),
        ({"subscriptionId": "x"}, "subscriptionId", "unknown_id"),
        ({"subscriptionId": UNKNOWN_ID}, "subscriptionId", "unknown_id"),
    ]:
        refused = import_events(
            api, build_event(subscriptionId=subscription), build_event(subscriptionId=subscription) | change
        )
        assert refused.status_code == 400, refused.content
        assert [(error["pointer"], error["code"]) for error in refused.json()["errors"]] == [
            (f"#/events/1/{pointer}", code)
        ], change
        assert SubscriptionEvent.objects.count() == 0, change


def test_invalid_import_body_is_rejected(api):
    for body, pointer, code in [
        ({}, "#/events", "required"),
        ({"events": {}}, "#/events", "invalid_value"),
        ([], "#", "invalid_value"),
        ({"events": [], "onError": "stop"}, "#/onError", "invalid_value"),
        ({"events": [], "dryRun": "yes"}, "#/dryRun", "invalid_value"),
        ({"events": [1] * 100_001}, "#/events", "too_many_items"),
    ]:
        refused = api.post("subscription_events/import", body)
        assert refused.status_code == 400, body
        assert [(error["pointer"], error["code"]) for error in refused.json()["errors"]] == [(pointer, code)], body


def test_non_json_event_body_is_rejected(api):
    for body in ("{", '{"events": [{"a": NaN}]}', '{"events": ["\\ud800"]}'):
        refused = api.client.post(
            api.path("subscription_events/import"), body, content_type="application/json", headers=api.headers
        )
        assert (refused.status_code, refused.json()["code"]) == (400, "invalid_json"), body
    wrong = api.client.post(api.path("subscription_events/import"), "a=1", content_type="text/csv", headers=api.headers)
    assert wrong.status_code == 415


def test_unknown_fields_are_named_and_escape_sequences_are_kept(api, subscription):
    answer = import_events(api, build_event(subscriptionId=subscription, note="x", externalId="tab\tline\\N"), colour=1)
    assert answer.json()["count"] == 1
    assert answer["Ignored-Fields"] == "colour, events/0/note"
    assert api.get("subscription_events").json()[0]["externalId"] == "tab\tline\\N"


def test_empty_event_import_creates_nothing(api, acme):
    assert import_events(api).json() == {"success": True, "count": 0, "duplicates": 0, "errors": [], "dryRun": False}
    assert AuditEntry.objects.for_company(acme.id).filter(action="subscriptionEvents.imported").count() == 0


def test_import_returns_at_most_a_thousand_errors_and_stores_valid_rows(api, subscription):
    rows = (
        [build_event("x", subscriptionId=subscription)] * 700 + [7] * 700 + [build_event(subscriptionId=subscription)]
    )
    assert len(import_events(api, *rows).json()["errors"]) == 1000
    answer = import_events(api, *rows, onError="skip").json()
    assert (answer["count"], len(answer["errors"])) == (1, 1000)


def test_subscription_of_other_company_is_unknown(globex_api, subscription):
    refused = import_events(globex_api, build_event(subscriptionId=subscription))
    assert refused.json()["errors"][0]["code"] == "unknown_id"
    refused = import_events(globex_api, build_event(subscriptionExternalId="sub_1"))
    assert refused.json()["errors"][0]["code"] == "required"
