"""Subscriptions and their events over HTTP."""

from datetime import timedelta
from urllib.parse import urlsplit

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from companies.models import AuditEntry
from ledger.models import Counterparty, Subscription, SubscriptionEvent
from tests import factories
from tests.run_date import TODAY

pytestmark = pytest.mark.django_db
UNKNOWN_ID = "00000000-0000-7000-8000-000000000000"


@pytest.fixture
def customer(acme):
    return factories.make_customer(acme)


@pytest.fixture
def subscription(api, customer):
    answer = api.post("subscriptions", {"customerId": str(customer.id), "externalId": "sub_1"})
    assert answer.status_code == 201, answer.content
    return answer.json()


@pytest.fixture
def send_event(api, subscription):
    def send(amount="10.00", day=TODAY, **more):
        body = {
            "subscriptionId": subscription["id"],
            "effectiveDate": str(day),
            "amountValue": amount,
            "amountCurrency": "EUR",
        }
        return api.post("subscription_events", body | more)

    return send


def test_subscription_is_scheduled_then_active_then_ended(api, subscription, send_event):
    path = f"subscriptions/{subscription['id']}"
    assert subscription["status"] == "scheduled"
    assert subscription["currentAmountValue"] is None
    send_event("120.00", TODAY + timedelta(days=5), interval="year")
    assert api.get(path).json()["status"] == "scheduled"
    send_event("10.00", TODAY - timedelta(days=40))
    read = api.get(path).json()
    assert (read["status"], read["currentAmountValue"], read["currentAmountCurrency"]) == ("active", "10.00", "EUR")
    assert (read["interval"], read["intervalCount"]) == ("month", 1)
    send_event("0.00", TODAY)
    read = api.get(path).json()
    assert (read["status"], read["currentAmountValue"]) == ("ended", "0.00")
    assert api.get("subscriptions").json() == [read]


def test_subscription_etag_changes_with_its_value(api, subscription, send_event):
    path = f"subscriptions/{subscription['id']}"
    etag = api.get(path)["ETag"]
    assert api.get(path, if_none_match=etag).status_code == 304
    send_event()
    assert api.get(path, if_none_match=etag).status_code == 200


def test_event_is_returned_as_sent(api, subscription, send_event):
    sent = send_event("30.5", TODAY, committedDate="2024-02-29", interval="week", intervalCount=2, externalId="e1")
    assert sent.status_code == 201, sent.content
    event = sent.json()
    assert event["amountValue"] == "30.50"
    assert (event["committedDate"], event["effectiveDate"]) == ("2024-02-29", str(TODAY))
    assert (event["interval"], event["intervalCount"], event["externalId"]) == ("week", 2, "e1")
    assert event["retractedTime"] is None
    assert api.get(sent["Location"]).json() == event
    assert AuditEntry.objects.filter(action="subscriptionEvent.created").count() == 1


def test_omitted_and_null_event_fields_take_defaults(send_event):
    event = send_event(committedDate=None, interval=None, intervalCount=None, externalId=None).json()
    assert event["committedDate"] == event["effectiveDate"]
    assert (event["interval"], event["intervalCount"]) == ("month", 1)


def test_later_created_event_wins_on_the_same_day(api, subscription, send_event):
    send_event("10.00")
    send_event("20.00")
    assert api.get(f"subscriptions/{subscription['id']}").json()["currentAmountValue"] == "20.00"


def test_retracted_event_stays_listed_but_no_longer_counts(api, subscription, send_event):
    first, second = send_event("10.00").json(), send_event("20.00", externalId="e1").json()
    assert api.delete(f"subscription_events/{second['id']}").json() == {"success": True}
    read = api.get(f"subscription_events/{second['id']}").json()
    assert read["retractedTime"] is not None
    assert api.get(f"subscriptions/{subscription['id']}").json()["currentAmountValue"] == "10.00"
    assert [each["id"] for each in api.get("subscription_events").json()] == [second["id"], first["id"]]
    assert api.delete(f"subscription_events/{second['id']}").status_code == 200
    assert api.get(f"subscription_events/{second['id']}").json() == read
    assert send_event("5.00", externalId="e1").status_code == 201  # its id is free for the correction


def test_external_ids_are_unique(send_event, api, customer):
    assert send_event(externalId="e1").status_code == 201
    refused = send_event(externalId="e1")
    assert (refused.status_code, refused.json()["code"]) == (409, "external_id_taken")
    assert SubscriptionEvent.objects.count() == 1
    refused = api.post("subscriptions", {"customerId": str(customer.id), "externalId": "sub_1"})
    assert (refused.status_code, refused.json()["code"]) == (409, "external_id_taken")


def test_company_metrics_follow_subscription_events(api, send_event):
    assert api.get().json()["computedCommittedMrrEur"] is None
    event = send_event("10.00", amountCurrency="EUR").json()
    read = api.get().json()
    assert (read["computedCommittedMrrEur"], read["computedActiveCustomerCount"]) == ("10.00", 1)
    assert read["computedMetricsTime"] is not None
    api.delete(f"subscription_events/{event['id']}")
    read = api.get().json()
    assert (read["computedCommittedMrrEur"], read["computedActiveCustomerCount"]) == ("0.00", 0)


def test_invalid_event_is_rejected_and_nothing_is_stored(send_event):
    for change, pointer, code in [
        ({"amountValue": 10}, "#/amountValue", "invalid_decimal"),
        ({"amountValue": "1e3"}, "#/amountValue", "invalid_decimal"),
        ({"amountValue": "1.234"}, "#/amountValue", "too_many_decimals"),
        ({"amountValue": "1.5", "amountCurrency": "JPY"}, "#/amountValue", "too_many_decimals"),
        ({"amountValue": "-0.01"}, "#/amountValue", "negative_amount"),
        ({"amountCurrency": "BGN"}, "#/amountCurrency", "invalid_choice"),
        ({"effectiveDate": "2023-02-29"}, "#/effectiveDate", "invalid_date"),
        ({"effectiveDate": "2023-2-1"}, "#/effectiveDate", "invalid_value"),
        ({"committedDate": 5}, "#/committedDate", "invalid_value"),
        ({"interval": "quarter"}, "#/interval", "invalid_choice"),
        ({"intervalCount": 0}, "#/intervalCount", "out_of_range"),
        ({"intervalCount": 1.0}, "#/intervalCount", "invalid_value"),
        ({"externalId": "x\0"}, "#/externalId", "invalid_characters"),
        ({"externalId": ""}, "#/externalId", "must_not_be_empty"),
        ({"subscriptionId": UNKNOWN_ID}, "#/subscriptionId", "unknown_id"),
    ]:
        refused = send_event(**change)
        assert refused.status_code == 400, refused.content
        assert refused.json()["code"] == "validation_failed", change
        assert [(error["pointer"], error["code"]) for error in refused.json()["errors"]] == [(pointer, code)], change
        assert SubscriptionEvent.objects.count() == 0, change


def test_subscription_requires_customer_and_product_of_own_company(api, acme, globex):
    theirs = factories.make_customer(globex)
    vendor = Counterparty(company=acme, type="vendor", name="V").mark_created(factories.make_audit_context())
    vendor.save(force_insert=True)
    for customer_id, code in ((theirs.id, "unknown_id"), (UNKNOWN_ID, "unknown_id"), (vendor.id, "not_a_customer")):
        refused = api.post("subscriptions", {"customerId": str(customer_id)})
        assert refused.status_code == 400
        assert refused.json()["errors"][0] | {"detail": ""} == {"pointer": "#/customerId", "code": code, "detail": ""}
    refused = api.post("subscriptions", {"customerId": str(factories.make_customer(acme).id), "productId": UNKNOWN_ID})
    assert refused.json()["errors"][0]["pointer"] == "#/productId"
    assert Subscription.objects.count() == 0


def test_events_and_subscriptions_are_paged_and_filtered(api, acme, send_event, subscription):
    other = api.post("subscriptions", {"customerId": str(factories.make_customer(acme).id)}).json()
    sent = [send_event(str(n), TODAY - timedelta(days=n)).json()["id"] for n in range(5)]
    first = api.get("subscription_events?limit=3")
    following = urlsplit(first["Link"].partition(">")[0][1:])
    second = api.get(f"{following.path}?{following.query}")
    assert [each["id"] for each in first.json() + second.json()] == sent[::-1]
    response = api.get(f"subscription_events?startDate={TODAY - timedelta(days=1)}&subscriptionId={subscription['id']}")
    assert [each["id"] for each in response.json()] == sent[1::-1]
    assert [each["id"] for each in api.get("subscriptions?externalId=sub_1").json()] == [subscription["id"]]
    assert [each["id"] for each in api.get("subscriptions").json()] == [other["id"], subscription["id"]]
    assert api.get("subscriptions?status=active").status_code == 400
    assert api.get("subscription_events?subscriptionId=x").status_code == 400
    for day in ("01/02/2024", "2024-2-1", "2024-02-30"):  # another's reading of it would be another day
        refused = api.get(f"subscription_events?startDate={day}")
        assert (refused.status_code, refused.json()["errors"][0]["code"]) == (400, "invalid_filter")


def test_list_queries_do_not_grow_with_rows(api, subscription, send_event):
    def queries(path):
        with CaptureQueriesContext(connection) as captured:
            assert api.get(path).status_code == 200
        return len(captured)

    send_event()
    paths = ("subscriptions", "subscription_events", "products")
    few = [queries(path) for path in paths]
    items = [
        {
            "subscriptionExternalId": f"s{n}",
            "customerExternalId": f"c{n}",
            "productExternalId": f"p{n}",
            "effectiveDate": "2024-01-01",
            "amountValue": "1.00",
            "amountCurrency": "EUR",
        }
        for n in range(200)
    ]
    assert api.post("subscription_events/import", {"events": items}).json()["count"] == 200
    assert [queries(f"{path}?limit=1000" if path != "products" else path) for path in paths] == few


# ---------------------------------------------------------------------------------------------- who subscribes


def test_customer_with_live_subscriptions_cannot_change_type(api, acme):
    customer = factories.make_customer(acme)
    path = f"counterparties/{customer.id}"
    subscription = api.post("subscriptions", {"customerId": str(customer.id)}).json()["id"]
    worth = {"subscriptionId": subscription, "amountCurrency": "EUR"}

    def refused():
        answer = api.put(path, {"type": "vendor", "name": "Renamed"})
        return (answer.status_code, answer.json().get("code")) == (409, "counterparty_in_use")

    assert refused()  # nothing was said of it yet
    api.post("subscription_events", worth | {"effectiveDate": "2026-01-01", "amountValue": "10"})
    assert refused()
    assert api.put(path, {"type": "customer", "name": "Renamed"}).status_code == 200
    api.post("subscription_events", worth | {"effectiveDate": "2026-02-01", "amountValue": "0"})
    again = api.post("subscription_events", worth | {"effectiveDate": "2999-01-01", "amountValue": "10"}).json()["id"]
    assert refused()  # it is to begin again
    api.delete(f"subscription_events/{again}")
    assert api.put(path, {"type": "vendor"}).json()["type"] == "vendor"


def test_subscription_can_change_product_and_external_id(api, subscription, send_event):
    send_event("10.00")
    path = f"subscriptions/{subscription['id']}"
    product = api.post("products", {"name": "Team"}).json()["id"]
    changed = api.put(path, {"productId": product, "externalId": "sub_2"})
    assert changed.status_code == 200, changed.content
    read = api.get(path)
    assert read.json() == changed.json()
    assert (read.json()["productId"], read.json()["externalId"], read.json()["status"]) == (product, "sub_2", "active")
    again = api.put(path, read.json(), if_match=read["ETag"])
    assert (again.json(), again["ETag"]) == (read.json(), read["ETag"])
    assert api.put(path, {"externalId": "sub_3"}, if_match='"other"').status_code == 412
    entry = AuditEntry.objects.get(action="subscription.updated")
    assert (entry.before["external_id"], entry.after["external_id"]) == ("sub_1", "sub_2")
    assert api.put(path, {"productId": UNKNOWN_ID}).json()["errors"][0]["code"] == "unknown_id"
    api.post("subscriptions", {"customerId": subscription["customerId"], "externalId": "taken"})
    assert api.put(path, {"externalId": "taken"}).json()["code"] == "external_id_taken"


def test_subscription_can_move_to_other_customer_with_its_history(api, acme, subscription, send_event):
    query = {"mrrType": "mrr", "startMonth": f"{TODAY:%Y-%m}"}
    path = f"subscriptions/{subscription['id']}"
    other = factories.make_customer(acme, "Hooli")
    send_event("10.00")
    own = api.post("subscriptions", {"customerId": str(other.id)}).json()["id"]
    send_event("5.00", subscriptionId=own)
    assert api.post("data/monthlyData", query).json()[0]["newCount"] == 2
    assert api.put(path, {"customerId": str(other.id)}).json()["customerId"] == str(other.id)
    row = api.post("data/monthlyData", query).json()[0]
    assert (row["new"], row["newCount"]) == (15, 1)
    vendor = api.post("counterparties", {"type": "vendor", "name": "Vend"}).json()["id"]
    assert api.put(path, {"customerId": vendor}).json()["errors"][0]["code"] == "not_a_customer"


def test_subscription_is_deleted_only_after_its_events_are_retracted(api, subscription, send_event):
    path = f"subscriptions/{subscription['id']}"
    event = send_event("10.00").json()["id"]
    refused = api.delete(path)
    assert (refused.status_code, refused.json()["code"]) == (409, "subscription_in_use")
    api.delete(f"subscription_events/{event}")
    assert api.delete(path).json() == {"success": True}
    assert api.get(path).status_code == 404
    assert not SubscriptionEvent.objects.exists()
    assert AuditEntry.objects.filter(action="subscription.deleted").count() == 1
