"""Products and product groups over HTTP."""

from datetime import date, timedelta

import pytest

from companies.models import AuditEntry
from ledger.models import Product
from tests import factories

pytestmark = pytest.mark.django_db
UNKNOWN_ID = "00000000-0000-7000-8000-000000000000"


@pytest.fixture
def product(api):
    answer = api.post("products", {"name": "Team", "externalIds": ["prod_1", "prod_2"]})
    assert answer.status_code == 201, answer.content
    return answer.json()


def test_product_is_returned_as_created(api, acme, product):
    assert set(product) == {
        *("id", "companyId", "name", "nameManuallyEdited", "productGroupId", "order", "externalIds"),
        *("createdTime", "createdUserId", "lastUpdatedTime", "lastUpdatedUserId"),
    }
    assert product["companyId"] == str(acme.id)
    assert product["externalIds"] == ["prod_1", "prod_2"]
    assert product["nameManuallyEdited"] is False
    read = api.get(f"products/{product['id']}")
    assert read.json() == product
    assert read["ETag"]
    assert AuditEntry.objects.for_company(acme.id).filter(action="product.created").count() == 1


def test_changed_product_name_is_marked_as_manually_edited(api, product):
    changed = api.put(f"products/{product['id']}", {"order": 3})
    assert (changed.json()["order"], changed.json()["nameManuallyEdited"]) == (3, False)
    changed = api.put(f"products/{product['id']}", changed.json() | {"name": "Team plan", "nonsense": 1})
    assert changed.json()["nameManuallyEdited"] is True
    assert changed["Ignored-Fields"] == "nonsense"
    assert changed.json()["externalIds"] == ["prod_1", "prod_2"]


def test_external_ids_are_replaced_and_unique(api, product):
    etag = api.get(f"products/{product['id']}")["ETag"]
    changed = api.put(f"products/{product['id']}", {"externalIds": ["prod_3"]}, if_match=etag)
    assert changed.json()["externalIds"] == ["prod_3"]
    assert changed["ETag"] != etag
    taken = api.post("products", {"name": "Other", "externalIds": ["prod_3"]})
    assert (taken.status_code, taken.json()["code"]) == (409, "external_id_taken")
    assert Product.objects.count() == 1


def test_product_list_shows_committed_revenue_and_event_count(api, make_api, acme, product):
    customer = str(factories.make_customer(acme).id)
    today = date.today()
    subscription = api.post("subscriptions", {"customerId": customer, "productId": product["id"]}).json()["id"]
    for amount, day in (("10.00", today - timedelta(days=400)), ("240.00", today - timedelta(days=3))):
        api.post(
            "subscription_events",
            {
                "subscriptionId": subscription,
                "effectiveDate": str(day),
                "amountValue": amount,
                "amountCurrency": "EUR",
                "interval": "year",
            },
        )
    (listed,) = api.get("products").json()
    assert (listed["cMRR"], listed["eventCount"]) == (20, 2)
    (hidden,) = make_api(acme, "products:read").get("products").json()
    assert (hidden["cMRR"], hidden["eventCount"]) == (None, 2)
    assert "cMRR" not in api.get(f"products/{product['id']}").json()


def test_product_with_subscriptions_cannot_be_deleted(api, acme, product):
    api.post("subscriptions", {"customerId": str(factories.make_customer(acme).id), "productId": product["id"]})
    refused = api.delete(f"products/{product['id']}")
    assert (refused.status_code, refused.json()["code"]) == (409, "product_in_use")
    assert api.get(f"products/{product['id']}").status_code == 200


def test_product_without_subscriptions_can_be_deleted(api, product):
    assert api.delete(f"products/{product['id']}").json() == {"success": True}
    assert api.get(f"products/{product['id']}").status_code == 404
    assert api.post("products", {"name": "Again", "externalIds": ["prod_1"]}).status_code == 201


def test_product_group_can_hold_products(api, product):
    group = api.post("product_groups", {"name": "Plans", "order": 1})
    assert group.status_code == 201
    group_id = group.json()["id"]
    assert group["Location"].endswith(f"/product_groups/{group_id}")
    assert api.put(f"products/{product['id']}", {"productGroupId": group_id}).json()["productGroupId"] == group_id
    refused = api.delete(f"product_groups/{group_id}")
    assert (refused.status_code, refused.json()["code"]) == (409, "product_group_not_empty")
    api.put(f"products/{product['id']}", {"productGroupId": None})
    assert api.put(f"product_groups/{group_id}", {"name": "All plans"}).json()["name"] == "All plans"
    assert [each["name"] for each in api.get("product_groups").json()] == ["All plans"]
    assert api.delete(f"product_groups/{group_id}").json() == {"success": True}


def test_invalid_product_is_rejected(api):
    for body, pointer, code in [
        ({}, "#/name", "required"),
        ({"name": 5}, "#/name", "invalid_value"),
        ({"name": "x", "order": 8388608}, "#/order", "out_of_range"),
        ({"name": "x", "order": "1"}, "#/order", "invalid_value"),
        ({"name": "x", "externalIds": "prod"}, "#/externalIds", "invalid_value"),
        ({"name": "x", "externalIds": [1]}, "#/externalIds/0", "invalid_value"),
        ({"name": "x", "productGroupId": UNKNOWN_ID}, "#/productGroupId", "unknown_id"),
    ]:
        refused = api.post("products", body)
        assert refused.status_code == 400, body
        assert refused.json()["code"] == "validation_failed", body
        assert [(error["pointer"], error["code"]) for error in refused.json()["errors"]] == [(pointer, code)], body
        assert Product.objects.count() == 0, body
