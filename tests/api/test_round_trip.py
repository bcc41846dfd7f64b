"""What was read can be sent back whole, and what was created is found at its Location."""

import pytest

from tests.api.request_bodies import BODIES, fill_ids, row_ids

pytestmark = pytest.mark.django_db
assert row_ids  # a fixture

READ_WRITE_PATHS = [
    "", "accounts", "account_groups", "transactions", "categories", "counterparties", "products", "product_groups",
    "planned_transactions", "plan_items", "files", "members", "scenarios",
]  # fmt: skip
CREATABLE_PATHS = [
    "accounts", "account_groups", "transactions", "categories", "counterparties", "products", "product_groups",
    "subscriptions", "subscription_events", "planned_transactions", "plan_items", "members", "api_keys", "scenarios",
]  # fmt: skip


def test_resource_can_be_sent_back_unchanged_without_effect(api, row_ids):
    for name in READ_WRITE_PATHS:
        path = f"{name}/{row_ids[name]}" if name else ""
        read = api.get(path)
        assert read.status_code == 200, read.content
        entries = api.get("audit_log").json()
        answer = api.put(path, read.json())
        assert answer.status_code == 200, answer.content
        assert answer.json() == read.json(), name
        assert answer.get("Ignored-Fields") is None, name
        assert answer["ETag"] == read["ETag"], name
        assert api.put(path, {}).json() == read.json(), name
        assert api.get("audit_log").json() == entries, name
        named = api.put(path, {"colour": "red"})
        assert (named.status_code, named["Ignored-Fields"]) == (200, "colour"), name


def test_created_resource_is_found_at_its_location(api, row_ids):
    others = {"externalId": "other", "externalIds": ["other"], "email": "other@acme.example"}
    for name in CREATABLE_PATHS:
        body = fill_ids(BODIES[name], row_ids)
        body |= {field: other for field, other in others.items() if field in body}
        made = api.post(name, body)
        assert made.status_code == 201, made.content
        assert made["Location"] == f"/companies/{api.company.id}/{name}/{made.json()['id']}"
        read = api.get(made["Location"])
        assert read.status_code == 200, name
        assert {k: v for k, v in made.json().items() if k != "key"} == read.json(), name


def test_every_created_resource_has_id_company_and_audit_fields(api, row_ids):
    for name in CREATABLE_PATHS:
        body = api.get(f"{name}/{row_ids[name]}").json()
        assert body["id"] == row_ids[name]
        assert body["companyId"] == str(api.company.id), name
        audit = {"createdTime", "createdUserId", "lastUpdatedTime", "lastUpdatedUserId"}
        expected = audit if name != "api_keys" else {"createdTime", "createdUserId"}
        assert expected <= set(body), name
        for time in (body[name] for name in expected if name.endswith("Time")):
            assert time.endswith("Z"), name
        assert body["createdUserId"] == f"apiKey:{api.key[4:40]}", name
