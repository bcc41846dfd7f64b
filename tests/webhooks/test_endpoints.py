"""Webhook endpoints as a resource: what they take, what they show, and that no secret is shown twice."""

import json
import logging
import re

import pytest
from django.core.management import call_command
from django.db import connection

from companies.models import AuditEntry, Company
from companies.models.events import EVENT_ACTIONS, EVENT_TYPES
from tests.machine import ROOT
from tests.rollback import undo_changes
from webhooks.models import WebhookEndpoint

pytestmark = pytest.mark.django_db
URL = "https://hooks.example.com/in"
DOCUMENTED_EVENT = re.compile(
    r"^\| `(\w+)` \| ([\w ]+) \|$", re.M
)  # a row of the page: what it is about, what became of it


def create_endpoint(api, **values):
    return api.post("webhook_endpoints", {"url": URL} | values)


def list_error_codes(answer):
    return [(each["pointer"], each["code"]) for each in answer.json()["errors"]]


def test_created_endpoint_returns_its_secret_once(api, acme):
    answer = create_endpoint(api, types=["transaction.updated", "transaction.created"], description="Books")
    made = answer.json()
    assert (answer.status_code, answer["Cache-Control"]) == (201, "no-store")
    secret = made.pop("secret")
    assert secret.startswith("whsec_")
    assert len(secret) == 50
    assert made == {
        "id": made["id"], "companyId": str(acme.id), "url": URL, "description": "Books", "enabled": True,
        "types": ["transaction.created", "transaction.updated"], "lastDeliveryTime": None, "lastStatus": None,
        "failingSince": None, "createdTime": made["createdTime"], "createdUserId": f"apiKey:{api.key[4:40]}",
        "lastUpdatedTime": made["createdTime"], "lastUpdatedUserId": f"apiKey:{api.key[4:40]}",
    }  # fmt: skip
    assert api.get("webhook_endpoints").json() == [made]
    assert api.get(answer["Location"]).json() == made


def test_endpoint_defaults_to_all_types_and_no_description(api):
    made = create_endpoint(api).json()
    assert (made["types"], made["description"], made["enabled"]) == (None, "", True)


def test_endpoint_secrets_are_unique_and_rolling_returns_a_new_one(api):
    first, second = create_endpoint(api).json(), create_endpoint(api).json()
    answer = api.post(f"webhook_endpoints/{first['id']}/roll_secret")
    rolled = answer.json()
    assert (answer.status_code, answer["Cache-Control"]) == (200, "no-store")
    assert len({first["secret"], second["secret"], rolled["secret"]}) == 3
    assert rolled["id"] == first["id"]
    assert rolled["lastUpdatedTime"] > first["lastUpdatedTime"]


def test_endpoint_secret_is_never_stored_logged_or_shown_again(api, acme, caplog, staff_pages):
    """Not in answers, the audit log, the feed, the database in any form, what is logged, or the staff's pages."""
    caplog.set_level(logging.DEBUG)
    made = create_endpoint(api).json()
    rolled = api.post(f"webhook_endpoints/{made['id']}/roll_secret").json()
    path = f"webhook_endpoints/{made['id']}"
    api.put(path, {"description": "other"})
    api.post(f"{path}/test")
    shown = [
        api.get(each).content.decode()
        for each in ("webhook_endpoints", path, f"{path}/deliveries", "audit_log", "events", "notifications")
    ]
    shown += [api.delete(path).content.decode(), caplog.text, staff_pages(acme), str(api.get("audit_log").json())]
    for secret in (made["secret"], rolled["secret"]):
        for form in (secret, secret.removeprefix("whsec_")):
            assert not [text for text in shown if form in text]
            assert form not in dump_all_tables()


def dump_all_tables():
    """Each table's text, with what is binary in it as base64."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT table_name FROM information_schema.tables WHERE table_schema = 'public'")
        tables = [name for (name,) in cursor.fetchall()]
        results = []
        for table in tables:
            cursor.execute(f'SELECT string_agg(t::text, chr(10)) FROM "{table}" t')
            results.append(cursor.fetchone()[0] or "")
        cursor.execute("SELECT string_agg(encode(salt, 'base64'), ' ') FROM webhooks_webhookendpoint")
        results.append(cursor.fetchone()[0] or "")
    return "\n".join(results)


@pytest.fixture
def staff_pages(admin_client):
    def pages(company):
        address = f"/admin/companies/company/{company.id}/change/"
        log = "/admin/companies/auditentry/"
        return admin_client.get(address).content.decode() + admin_client.get(log).content.decode()

    return pages


def test_endpoint_secret_depends_on_the_pepper(api, settings):
    """A copy of it alone is of no use."""
    from webhooks import signing

    made = create_endpoint(api).json()
    row = WebhookEndpoint.objects.get(id=made["id"])
    assert signing.get_endpoint_secret(row) == made["secret"]
    settings.API_KEY_PEPPER = "another"
    assert signing.get_endpoint_secret(row) != made["secret"]


REJECTED_URLS = [
    ("http://hooks.example.com/", "not_https"),
    ("ftp://hooks.example.com/", "invalid_address"),
    ("hooks.example.com", "invalid_address"),
    ("https://", "invalid_address"),
    ("", "must_not_be_empty"),
    ("https://hooks.example.com:99999/", "invalid_address"),
    ("https://hooks.example.com:0/", "invalid_address"),
    ("https://hooks.example.com:22/", "invalid_address"),
    ("https://hooks.example.com/#part", "invalid_address"),
    ("https://[::1", "invalid_address"),
    ("https://hooks.example.com/ü", "invalid_address"),
    ("https://hooks.example.com/a b", "invalid_address"),
    ("https://hooks.example.com/\r\nHost: x", "invalid_address"),
    ("https://me:secret@hooks.example.com/", "credentials_in_address"),
    ("https://me@hooks.example.com/", "credentials_in_address"),
    ("https://127.0.0.1/", "address_not_public"),
    ("https://127.1/", "address_not_public"),
    ("https://2130706433/", "address_not_public"),
    ("https://0x7f000001/", "address_not_public"),
    ("https://10.1.2.3:8443/", "address_not_public"),
    ("https://169.254.169.254/latest/meta-data", "address_not_public"),
    ("https://[::1]/", "address_not_public"),
    ("https://[::ffff:10.0.0.1]/", "address_not_public"),
    ("https://[fd00::1]/", "address_not_public"),
    ("https://[v1.a:b]/", "address_not_public"),
    ("https://localhost/", "address_not_public"),
    ("https://LOCALHOST./", "address_not_public"),
    ("https://intranet/", "address_not_public"),
    ("https://printer.local/", "address_not_public"),
    ("https://vault.internal/", "address_not_public"),
    ("https://hooks.example.com/" + "x" * 2048, "too_long"),
    (7, "invalid_value"),
    (None, "must_not_be_null"),
]


def test_invalid_or_private_url_is_rejected(api):
    for url, code in REJECTED_URLS:
        with undo_changes():
            answer = create_endpoint(api, url=url)
            assert (answer.status_code, list_error_codes(answer)) == (400, [("#/url", code)]), url
            made = create_endpoint(api).json()
            assert list_error_codes(api.put(f"webhook_endpoints/{made['id']}", {"url": url})) == [("#/url", code)]
            assert [row["url"] for row in api.get("webhook_endpoints").json()] == [URL], url


@pytest.mark.parametrize("url", ["https://1.1.1.1/", "https://[2606:4700::1111]:8443/x?y=z", "https://a.example./"])
def test_public_url_is_accepted_without_dns_lookup(api, url):
    assert create_endpoint(api, url=url).json()["url"] == url


def test_invalid_event_types_are_rejected(api):
    for types, pointer, code in [
        ([], "#/types", "must_not_be_empty"),
        (["nonsense"], "#/types/0", "invalid_event_type"),
        (["transaction.created", "a.b.c"], "#/types/1", "invalid_event_type"),
        (["x" * 61], "#/types/0", "too_long"),
        (["transaction.create"], "#/types/0", "invalid_event_type"),
        (["transaction.Created"], "#/types/0", "invalid_event_type"),
        (["member.added"], "#/types/0", "invalid_event_type"),
        (["transaction.created"] * 151, "#/types", "too_long"),
        ("transaction.created", "#/types", "invalid_value"),
        ([7], "#/types/0", "invalid_value"),
    ]:
        answer = create_endpoint(api, types=types)
        assert (answer.status_code, list_error_codes(answer)) == (400, [(pointer, code)]), types


def test_invalid_event_type_in_update_is_rejected_and_changes_nothing(api):
    made = create_endpoint(api, types=["transaction.created"]).json()
    answer = api.put(f"webhook_endpoints/{made['id']}", {"types": ["transaction.create"]})
    assert (answer.status_code, list_error_codes(answer)) == (400, [("#/types/0", "invalid_event_type")])
    assert [row["types"] for row in api.get("webhook_endpoints").json()] == [["transaction.created"]]


def test_every_event_type_is_accepted_and_documented(api):
    assert create_endpoint(api, types=sorted(EVENT_TYPES)).json()["types"] == sorted(EVENT_TYPES)
    page = (ROOT / "docs" / "webhooks.md").read_text()
    assert dict(DOCUMENTED_EVENT.findall(page)) == EVENT_ACTIONS


def test_unknown_event_type_cannot_be_audited(acme, audit_context):
    with pytest.raises(LookupError):
        AuditEntry.objects.build_entry(
            audit_context, company_id=acme.id, action="transaction.create", entity_type="transaction", entity_id=None
        )


def test_company_is_limited_to_twenty_endpoints(api, globex_api):
    for _ in range(20):
        assert create_endpoint(api).status_code == 201
    answer = create_endpoint(api)
    assert (answer.status_code, answer.json()["code"]) == (409, "too_many_webhook_endpoints")
    assert create_endpoint(globex_api).status_code == 201
    api.delete(f"webhook_endpoints/{api.get('webhook_endpoints').json()[0]['id']}")
    assert create_endpoint(api).status_code == 201


def test_update_changes_only_sent_fields_and_stale_update_is_rejected(api):
    made = create_endpoint(api, types=["account.created"], description="x")
    path = f"webhook_endpoints/{made.json()['id']}"
    changed = api.put(path, {"types": None, "enabled": False}).json()
    assert (changed["types"], changed["enabled"], changed["description"], changed["url"]) == (None, False, "x", URL)
    assert "secret" not in changed
    stale = api.put(path, {"description": "y"}, if_match=made["ETag"])
    assert (stale.status_code, stale.json()["code"]) == (412, "precondition_failed")
    assert api.post(f"{path}/roll_secret").status_code == 200
    assert api.delete(path, if_match=api.get(path)["ETag"]).status_code == 200
    assert api.get(path).status_code == 404


def list_log_entries(api):
    return api.get("audit_log", {"entityType": "webhookEndpoint"}).json()


def test_endpoint_changes_are_audited(api):
    made = create_endpoint(api, description="x").json()
    path = f"webhook_endpoints/{made['id']}"
    api.put(path, {"description": "y", "url": URL})
    api.post(f"{path}/roll_secret")
    api.post(f"{path}/test")
    api.delete(path)
    log = [(row["action"], row["before"], row["after"]) for row in reversed(list_log_entries(api))]
    text = {"url": URL, "types": None, "enabled": True, "description": "x"}
    assert log == [
        ("webhookEndpoint.created", None, text),
        ("webhookEndpoint.updated", {"description": "x"}, {"description": "y"}),
        ("webhookEndpoint.secretRolled", None, None),
        ("webhookEndpoint.tested", None, None),
        ("webhookEndpoint.deleted", text | {"description": "y"}, None),
    ]
    assert not AuditEntry.objects.exclude(entity_id=made["id"]).filter(entity_type="webhookEndpoint").exists()


@pytest.mark.parametrize("status", ["expired", "cancelled"])
def test_read_only_company_can_still_manage_endpoints(api, acme, status):
    made = create_endpoint(api).json()
    Company.objects.filter(id=acme.id).update(system_status=status)
    assert api.put(f"webhook_endpoints/{made['id']}", {"enabled": False}).status_code == 200
    assert api.delete(f"webhook_endpoints/{made['id']}").status_code == 200


def test_retried_creation_adds_one_endpoint_and_returns_same_secret(api):
    """The kept answer is sealed, as that of a new API key is."""
    first = api.post("webhook_endpoints", {"url": URL}, idempotency_key="k")
    again = api.post("webhook_endpoints", {"url": URL}, idempotency_key="k")
    assert first.json() == again.json()
    assert len(api.get("webhook_endpoints").json()) == 1
    assert first.json()["secret"] not in dump_all_tables()


def test_old_deliveries_are_pruned(api, receiver, deliverer, acme_endpoint):
    api.post("account_groups", {"name": "x"})
    deliverer.run()
    path = f"webhook_endpoints/{acme_endpoint['id']}/deliveries"
    call_command("prune")
    assert len(api.get(path).json()) == 1
    with connection.cursor() as cursor:
        cursor.execute("UPDATE webhooks_webhookdelivery SET time = now() - interval '31 days'")
    api.post(f"webhook_endpoints/{acme_endpoint['id']}/test")  # what waits is kept
    call_command("prune")
    assert [row["time"] for row in api.get(path).json()] == [None]
    assert json.loads(receiver.came[0].raw)["type"] == "accountGroup.created"


def test_changing_webhooks_needs_a_recent_login(sign_in_browser, alice, acme, age_session):
    owner = sign_in_browser(alice, acme)
    made = owner.post("webhook_endpoints", {"url": "https://hooks.example.com/a"}).json()
    one = f"webhook_endpoints/{made['id']}"
    pages = f"/app/companies/{acme.id}/settings/webhooks"
    age_session(owner.client)
    answers = [
        owner.post("webhook_endpoints", {"url": "https://hooks.example.com/b"}),
        owner.put(one, {"url": "https://hooks.example.com/b"}),
        owner.post(f"{one}/roll_secret"),
        owner.delete(one),
    ]
    assert [(each.status_code, each.json()["code"]) for each in answers] == [(403, "sign_in_again")] * 4
    for path, form in [("/new", {"url": "https://hooks.example.com/b"}), (f"/{made['id']}", {"enabled": "false"}),
                       (f"/{made['id']}/roll", {}), (f"/{made['id']}/delete", {})]:  # fmt: skip
        assert owner.client.post(pages + path, form)["Location"].startswith("/app/sign-in?again=1"), path
    assert owner.get("webhook_endpoints").json() == [{k: v for k, v in made.items() if k != "secret"}]
