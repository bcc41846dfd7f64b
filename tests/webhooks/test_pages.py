"""Settings → Webhooks: what owners see and do there."""

import re
from html import unescape

import pytest

from tests.webhooks.test_delivery import create_groups
from webhooks.models import WebhookDelivery, WebhookEndpoint

pytestmark = pytest.mark.django_db
URL = "https://hooks.example.com/in"


@pytest.fixture
def page(acme):
    return lambda path="": f"/app/companies/{acme.id}/settings/webhooks{path}"


def get_text(answer):
    return unescape(answer.content.decode())


def find_secret(answer):
    match = re.search(r"whsec_[A-Za-z0-9+/=]{44}", get_text(answer))
    return match and match[0]


def test_owner_can_add_endpoint_and_sees_its_secret_once(owner, acme, page):
    assert "No webhooks yet" in get_text(owner.get(page()))
    form = {"url": f" {URL} ", "types": "transaction.created, account.updated", "description": "Books"}
    answer = owner.post(page("/new"), form)
    assert (answer.status_code, answer["Cache-Control"]) == (200, "no-store")
    row = WebhookEndpoint.objects.for_company(acme.id).get()
    assert (row.url, row.types, row.description) == (URL, ["account.updated", "transaction.created"], "Books")
    secret = find_secret(answer)
    assert secret
    for path in ("", f"/{row.id}"):
        shown = owner.get(page(path))
        assert find_secret(shown) is None
        assert URL in get_text(shown)
    assert "account.updated, transaction.created" in get_text(owner.get(page()))


def test_invalid_endpoint_shows_field_errors(owner, acme, page):
    for form, field, said in [
        ({"url": "http://hooks.example.com/"}, "url", "Must start with https://."),
        ({"url": "https://10.0.0.1/"}, "url", "Must be a public address."),
        ({"url": "https://a:b@hooks.example.com/"}, "url", "Must not contain a user name or password."),
        ({"url": URL, "types": "transactions"}, "types", "Must be an event type such as transaction.created."),
        ({"url": URL, "description": "x" * 201}, "description", "200"),
    ]:
        answer = owner.post(page("/new"), form)
        assert answer.status_code == 400, form
        assert f'id="{field}-error"' in get_text(answer), form
        assert said in get_text(answer), form
        assert f'value="{form[field]}"' in get_text(answer)
        assert not WebhookEndpoint.objects.for_company(acme.id).exists(), form


def test_twenty_first_endpoint_is_rejected_above_the_form(owner, acme, page, api):
    for _ in range(20):
        api.post("webhook_endpoints", {"url": URL})
    assert "Add webhook" not in get_text(owner.get(page()))
    answer = owner.post(page("/new"), {"url": URL})
    assert (answer.status_code, "up to 20 webhook endpoints" in get_text(answer)) == (400, True)


def test_endpoint_page_covers_all_actions(owner, acme, page, api, receiver, deliverer):
    made = api.post("webhook_endpoints", {"url": receiver.url(), "types": ["account.created"]}).json()
    path = page(f"/{made['id']}")
    row = lambda: WebhookEndpoint.objects.for_company(acme.id).get()  # noqa: E731
    seen = re.search(r'name="seen" value="(\w+)"', get_text(owner.get(path)))[1]
    form = {"url": receiver.url("/new"), "types": "", "description": "y", "seen": seen}
    assert owner.post(path, form).status_code == 303
    assert (row().url, row().types, row().description) == (receiver.url("/new"), None, "y")
    stale = owner.post(path, form | {"description": "z"})
    assert (stale.status_code, row().description) == (400, "y")
    owner.post(path, {"enabled": "false"})
    assert row().enabled is False
    assert "disabled" in get_text(owner.get(path))
    assert "Test event sent. The response appears below shortly." in get_text(owner.post(f"{path}/test", follow=True))
    deliverer.run()
    assert receiver.types == ["webhookEndpoint.tested"]
    shown = get_text(owner.get(path))
    assert "webhookEndpoint.tested" in shown
    assert "answer to 1" in shown
    delivery = WebhookDelivery.objects.for_company(acme.id).get()
    owner.post(f"{path}/deliveries/{delivery.id}/redeliver")
    deliverer.run()
    assert len(receiver.came) == 2
    owner.post(path, {"enabled": "true"})
    assert row().enabled is True
    rolled = owner.post(f"{path}/roll")
    assert find_secret(rolled) not in (None, made["secret"])
    assert rolled["Cache-Control"] == "no-store"
    assert "valid until" in get_text(rolled)
    assert owner.post(f"{path}/delete").status_code == 303
    assert owner.get(path).status_code == 404


def test_failing_endpoint_page_shows_failure_start_and_escaped_response(
    owner, page, api, acme_endpoint, receiver, deliverer
):
    receiver.answers = lambda message: (
        lambda connection: connection.sendall(b"HTTP/1.1 500 No\r\nContent-Length: 25\r\n\r\n<script>alert(1)</script>")
    )
    create_groups(api, "x")
    deliverer.run()
    assert "failing" in get_text(owner.get(page()))
    shown = owner.get(page(f"/{acme_endpoint['id']}")).content.decode()
    assert "No event accepted since" in shown
    assert "<script>alert" not in shown
    assert "&lt;script&gt;alert" in shown
