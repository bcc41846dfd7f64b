"""Deliveries: signed, in order, at least once, again where it fails, and never inside."""

import json
import socket
import threading
import time
from datetime import UTC, datetime, timedelta

import pytest
from standardwebhooks.webhooks import Webhook, WebhookVerificationError

from companies import http_client
from companies.models import AuditEntry, Company
from notifications.models import Notification
from webhooks import delivery
from webhooks.models import WebhookEndpoint

pytestmark = pytest.mark.django_db


def create_groups(api, *names):
    """One event for each name."""
    for name in names:
        assert api.post("account_groups", {"name": name}).status_code == 201


def list_deliveries(api, acme_endpoint):
    return api.get(f"webhook_endpoints/{acme_endpoint['id']}/deliveries").json()


def get_endpoint_state(api, acme_endpoint):
    row = api.get(f"webhook_endpoints/{acme_endpoint['id']}").json()
    return row["enabled"], row["lastStatus"], row["failingSince"]


def test_message_is_the_feed_event_with_a_standard_webhooks_signature(api, acme_endpoint, receiver, deliverer):
    create_groups(api, "Bänke 🏦")
    assert deliverer.run() == 1
    (message,) = receiver.came
    event = api.get("events").json()[-1]
    assert Webhook(acme_endpoint["secret"]).verify(message.raw, message.headers) == event
    assert message.headers["webhook-id"] == event["id"]
    assert abs(int(message.headers["webhook-timestamp"]) - time.time()) < 30
    assert message.headers["content-type"] == "application/json"
    assert "authorization" not in message.headers
    tampered = message.raw.replace(b"created", b"deleted")
    for secret, raw in ((acme_endpoint["secret"], tampered), ("whsec_" + "QUFB" * 8, message.raw)):
        with pytest.raises(WebhookVerificationError):
            Webhook(secret).verify(raw, message.headers)


def test_rolled_secret_verifies_beside_new_secret_for_a_day(api, acme_endpoint, receiver, deliverer):
    path = f"webhook_endpoints/{acme_endpoint['id']}/roll_secret"
    new = api.post(path).json()["secret"]
    deliverer.run()
    for secret in (acme_endpoint["secret"], new):
        Webhook(secret).verify(receiver.came[-1].raw, receiver.came[-1].headers)
    create_groups(api, "x")
    deliverer.run_later(hours=25)
    assert receiver.came[-1].headers["webhook-signature"].count("v1,") == 1
    signature = sign_message(new, receiver.came[-1])
    assert receiver.came[-1].headers["webhook-signature"] == signature
    assert signature != sign_message(acme_endpoint["secret"], receiver.came[-1])


def sign_message(secret, message):
    moment = datetime.fromtimestamp(int(message.headers["webhook-timestamp"]), tz=UTC)
    return Webhook(secret).sign(message.headers["webhook-id"], moment, message.raw.decode())


def test_events_are_delivered_in_feed_order_from_endpoint_creation(api, receiver, deliverer):
    create_groups(api, "before")
    api.post("webhook_endpoints", {"url": receiver.url()})
    create_groups(api, *"abcdefgh")
    deliverer.run()
    fed = [event["id"] for event in api.get("events").json()]
    assert [message.headers["webhook-id"] for message in receiver.came] == fed[-8:]


def test_endpoint_types_filter_events_and_skipped_events_are_passed(api, receiver, deliverer):
    made = api.post("webhook_endpoints", {"url": receiver.url(), "types": ["accountGroup.deleted"]}).json()
    create_groups(api, "a", "b")
    group = api.get("account_groups").json()[0]["id"]
    assert deliverer.run() == 0
    newest = AuditEntry.objects.order_by("-number").values_list("number", flat=True).first()
    assert WebhookEndpoint.objects.get(id=made["id"]).last_number == newest
    api.delete(f"account_groups/{group}")
    assert deliverer.run() == 1
    assert receiver.types == ["accountGroup.deleted"]


def test_endpoint_receives_only_events_of_its_company(api, globex_api, receiver, deliverer):
    for caller, path in ((api, "/acme"), (globex_api, "/globex")):
        caller.post("webhook_endpoints", {"url": receiver.url(path)})
    create_groups(api, "ours")
    create_groups(globex_api, "theirs")
    deliverer.run()
    ours, theirs = (
        [message.event["id"] for message in receiver.came if message.path == path] for path in ("/acme", "/globex")
    )
    assert ours == [api.get("events").json()[-1]["id"]]
    assert theirs == [globex_api.get("events").json()[-1]["id"]]


def test_delivery_records_the_response(api, acme_endpoint, receiver, deliverer):
    create_groups(api, "x")
    deliverer.run()
    (row,) = list_deliveries(api, acme_endpoint)
    assert 0 <= row.pop("durationMs") < 5000
    assert row == {
        "id": row["id"], "eventId": receiver.came[0].event["id"], "type": "accountGroup.created", "askedTime": None,
        "time": row["time"], "status": 200, "response": "answer to 1", "error": "",
    }  # fmt: skip
    shown = api.get(f"webhook_endpoints/{acme_endpoint['id']}").json()
    assert (shown["lastStatus"], shown["lastDeliveryTime"], shown["failingSince"]) == (200, row["time"], None)


def test_deliveries_are_paged_latest_first(api, acme_endpoint, receiver, deliverer):
    create_groups(api, *"abc")
    deliverer.run()
    first = api.get(f"webhook_endpoints/{acme_endpoint['id']}/deliveries", {"limit": "2"})
    rest = api.get(first["Link"].partition(">")[0].removeprefix("<"))
    assert [row["eventId"] for row in first.json() + rest.json()] == [
        message.event["id"] for message in reversed(receiver.came)
    ]


# ---------------------------------------------------------------------------------------------- where it fails


def test_failing_receiver_gets_every_event_in_order(api, acme_endpoint, receiver, deliverer):
    fails = iter([503, 200, 200, 404, 302, 200, 500, 500, 200] + [200] * 20)
    receiver.answers = lambda message: next(fails)
    create_groups(api, *"abcdefgh")
    deliverer.run()
    while get_endpoint_state(api, acme_endpoint)[2]:
        deliverer.run_later(minutes=6)
    fed = [event["id"] for event in api.get("events").json()][-8:]
    assert [message.headers["webhook-id"] for message in receiver.taken] == fed
    order = [message.headers["webhook-id"] for message in receiver.came]
    assert list(dict.fromkeys(order)) == fed, "nothing comes before what is not taken yet"
    assert len(order) == 8 + 5
    assert [row["status"] for row in list_deliveries(api, acme_endpoint)].count(200) == 8


def test_failed_delivery_is_retried_then_disables_endpoint_and_notifies(
    api, acme, alice, bob, acme_endpoint, receiver, deliverer
):
    receiver.answers = lambda message: 500
    create_groups(api, "x")
    assert deliverer.run() == 1
    minutes = [5 / 60, 5, 30, 120, 300, 600, 840, 1200, 1440]
    for wait in minutes:
        assert get_endpoint_state(api, acme_endpoint)[0] is True
        assert deliverer.run_later(minutes=wait, seconds=-2) == 0, "not before"
        assert deliverer.run_later(seconds=4) == 1
    assert len(receiver.came) == 10
    assert len({message.headers["webhook-id"] for message in receiver.came}) == 1
    enabled, status, since = get_endpoint_state(api, acme_endpoint)
    assert (enabled, status, since is not None) == (False, 500, True)
    assert deliverer.run_later(days=30) == 0
    entry = api.get("audit_log").json()[0]
    assert (entry["action"], entry["actor"], entry["after"]) == ("webhookEndpoint.disabled", None, {"enabled": False})
    notifications = Notification.objects.for_company(acme.id).filter(type="webhookEndpoint.disabled")
    assert {row.recipient.email for row in notifications} >= {"alice@acme.example"}
    assert bob.pk not in {row.recipient_id for row in notifications}
    payload = notifications[0].payload
    assert (payload["entityId"], payload["url"]) == (acme_endpoint["id"], acme_endpoint["url"])
    assert payload["link"].endswith(f"/companies/{acme.id}/settings/webhooks")


def test_reenabled_endpoint_receives_missed_events_in_order(api, acme_endpoint, receiver, deliverer):
    path = f"webhook_endpoints/{acme_endpoint['id']}"
    api.put(path, {"enabled": False})
    create_groups(api, *"ab")
    assert deliverer.run() == 0
    api.put(path, {"enabled": True})
    assert deliverer.run() == 4
    assert receiver.types == [
        "webhookEndpoint.updated", "accountGroup.created", "accountGroup.created", "webhookEndpoint.updated"
    ]  # fmt: skip


def test_delivery_resumes_at_once_after_url_change_reenabling_or_test(api, acme_endpoint, receiver, deliverer):
    path = f"webhook_endpoints/{acme_endpoint['id']}"
    for mend in (
        lambda: api.put(path, {"url": receiver.url("/other")}),
        lambda: (api.put(path, {"enabled": False}), api.put(path, {"enabled": True})),
        lambda: api.post(f"{path}/test"),
    ):
        receiver.answers = lambda message: 500
        create_groups(api, "x")
        deliverer.run()
        receiver.answers = lambda message: 200
        assert deliverer.run() == 0, "it waits"
        mend()
        deliverer.run()
        assert get_endpoint_state(api, acme_endpoint) == (True, 200, None)
    fed = [event["id"] for event in api.get("events").json() if event["type"] != "webhookEndpoint.tested"]
    taken = [message.headers["webhook-id"] for message in receiver.taken if "tested" not in message.event["type"]]
    assert taken == fed[-len(taken) :]


def test_gone_receiver_disables_the_endpoint(api, acme, alice, acme_endpoint, receiver, deliverer):
    receiver.answers = lambda message: 410
    create_groups(api, "x", "y")
    assert deliverer.run() == 1
    assert get_endpoint_state(api, acme_endpoint)[:2] == (False, 410)
    assert Notification.objects.for_company(acme.id).filter(type="webhookEndpoint.disabled", recipient=alice).exists()


GARBAGE = {
    "nothing at all": (b"", "closed the connection"),
    "no HTTP": (b"hello\r\n\r\n", "does not answer as HTTP does"),
    "a status of words": (b"HTTP/1.1 fine OK\r\n\r\n", "does not answer as HTTP does"),
    "chunks without a length": (
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        "does not answer as HTTP does",
    ),
    "endless headers": (b"HTTP/1.1 200 OK\r\n" + b"X-A: b\r\n" * 200 + b"\r\n", "does not answer as HTTP does"),
}


@pytest.mark.parametrize(("raw", "error"), GARBAGE.values(), ids=GARBAGE)
def test_invalid_http_response_is_a_failure(api, acme_endpoint, receiver, deliverer, raw, error):
    receiver.answers = lambda message: lambda connection: connection.sendall(raw)
    create_groups(api, "x")
    assert deliverer.run() == 1
    (row,) = list_deliveries(api, acme_endpoint)
    assert (row["status"], row["response"]) == (None, "")
    assert error in row["error"]
    assert get_endpoint_state(api, acme_endpoint)[1] is None
    receiver.answers = lambda message: 200
    assert deliverer.run_later(seconds=6) == 1


def test_response_is_stored_up_to_1024_characters_with_any_bytes(api, acme_endpoint, receiver, deliverer):
    body = b"\x00\xff\xfe" + "ü".encode() * 2000
    head = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(body)
    receiver.answers = lambda message: lambda connection: connection.sendall(head + body)
    create_groups(api, "x")
    deliverer.run()
    (row,) = list_deliveries(api, acme_endpoint)
    assert row["status"] == 200
    assert row["response"].startswith("���ü")
    assert len(row["response"]) <= 1024
    assert get_endpoint_state(api, acme_endpoint) == (True, 200, None)


def test_truncated_response_counts_by_its_status(api, acme_endpoint, receiver, deliverer):
    raw = b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf"
    receiver.answers = lambda message: lambda connection: connection.sendall(raw)
    create_groups(api, "x")
    deliverer.run()
    assert [(row["status"], row["response"]) for row in list_deliveries(api, acme_endpoint)] == [(200, "half")]


def test_huge_response_is_not_read_completely(api, acme_endpoint, receiver, deliverer):
    sent = []

    def flood(connection):
        connection.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
        while sum(sent) < 2**30:
            sent.append(connection.send(b"x" * 65536))

    receiver.answers = lambda message: flood
    create_groups(api, "x")
    deliverer.run()
    assert sum(sent) < 2**24, "what the kernels buffer"
    assert "more than is read" in list_deliveries(api, acme_endpoint)[0]["error"]


def test_hanging_receiver_times_out(api, acme_endpoint, receiver, deliverer, monkeypatch):
    monkeypatch.setitem(http_client.fetch_url.__kwdefaults__, "seconds", 0.3)
    given_up = threading.Event()
    receiver.answers = lambda message: lambda connection: given_up.wait(60)
    create_groups(api, "x")
    began = time.monotonic()
    assert deliverer.run() == 1
    assert time.monotonic() - began < 30
    given_up.set()
    assert list_deliveries(api, acme_endpoint)[0]["error"] != ""


def test_unreachable_receiver_is_a_failure(api, receiver, deliverer):
    with socket.create_server(("127.0.0.1", 0)) as free:
        url = f"http://127.0.0.1:{free.getsockname()[1]}/"
    hook = api.post("webhook_endpoints", {"url": url}).json()
    create_groups(api, "x")
    assert deliverer.run() == 1
    assert list_deliveries(api, hook)[0]["error"] == "127.0.0.1 takes no connection"


# ---------------------------------------------------------------------------------------------- by hand


def test_endpoint_test_goes_only_to_its_endpoint_even_if_disabled(api, receiver, deliverer):
    values = {"types": ["transaction.created"], "enabled": False}
    quiet = api.post("webhook_endpoints", {"url": receiver.url("/quiet"), **values}).json()
    api.post("webhook_endpoints", {"url": receiver.url("/all")})
    answer = api.post(f"webhook_endpoints/{quiet['id']}/test")
    body = answer.json()
    assert (answer.status_code, body["type"], body["time"], body["status"]) == (
        200, "webhookEndpoint.tested", None, None
    )  # fmt: skip
    deliverer.run()
    (message,) = receiver.came
    event = Webhook(quiet["secret"]).verify(message.raw, message.headers)
    assert (message.path, event["type"], event["entityId"]) == ("/quiet", "webhookEndpoint.tested", quiet["id"])
    (row,) = list_deliveries(api, quiet)
    assert (row["id"], row["status"], row["eventId"]) == (body["id"], 200, event["id"])
    assert event == api.get("events").json()[-1]


def test_failed_endpoint_test_is_not_retried_and_changes_no_state(api, acme_endpoint, receiver, deliverer):
    receiver.answers = lambda message: 500
    api.post(f"webhook_endpoints/{acme_endpoint['id']}/test")
    assert deliverer.run() == 1
    assert deliverer.run_later(hours=1) == 0
    assert get_endpoint_state(api, acme_endpoint) == (True, 500, None)


def test_redelivery_has_the_same_id_and_a_new_signature(api, acme_endpoint, receiver, deliverer):
    create_groups(api, "x")
    deliverer.run()
    (first,) = list_deliveries(api, acme_endpoint)
    answer = api.post(f"webhook_endpoints/{acme_endpoint['id']}/deliveries/{first['id']}/redeliver")
    assert (answer.status_code, answer.json()["eventId"], answer.json()["time"]) == (200, first["eventId"], None)
    deliverer.run()
    once, again = receiver.came[:2]
    assert (once.raw, once.headers["webhook-id"]) == (again.raw, again.headers["webhook-id"])
    Webhook(acme_endpoint["secret"]).verify(again.raw, again.headers)
    assert receiver.types[2:] == ["webhookEndpoint.redelivered"], "which is an event like any other"


def test_manual_deliveries_are_limited_to_twenty_waiting(api, acme_endpoint):
    path = f"webhook_endpoints/{acme_endpoint['id']}/test"
    assert {api.post(path).status_code for _ in range(20)} == {200}
    answer = api.post(path)
    assert (answer.status_code, answer.json()["code"]) == (409, "too_many_deliveries_waiting")


# ---------------------------------------------------------------------------------------------- ends


def test_deleted_endpoint_is_no_longer_called(api, acme_endpoint, receiver, deliverer):
    create_groups(api, "x", "y")

    def gone(message):
        assert api.delete(f"webhook_endpoints/{acme_endpoint['id']}").status_code == 200
        return 200

    deleting = iter([gone])
    send = delivery.send_event
    delivery.send_event = lambda endpoint, entry, now: (next(deleting)(None), send(endpoint, entry, now=now))[1]
    try:
        assert deliverer.run() == 1
    finally:
        delivery.send_event = send
    assert api.get("webhook_endpoints").json() == []
    assert deliverer.run() == 0


def test_endpoint_change_applies_to_the_next_delivery(api, acme_endpoint, receiver, deliverer, monkeypatch):
    create_groups(api, "x", "y")
    send = delivery.send_event

    def meanwhile(endpoint, entry, now):
        api.put(f"webhook_endpoints/{acme_endpoint['id']}", {"enabled": False})
        return send(endpoint, entry, now=now)

    monkeypatch.setattr(delivery, "send_event", meanwhile)
    assert deliverer.run() == 1
    assert get_endpoint_state(api, acme_endpoint) == (False, 200, None)
    assert WebhookEndpoint.objects.get(id=acme_endpoint["id"]).held_until is None


def test_unrecorded_delivery_is_sent_again(api, acme_endpoint, receiver, deliverer, monkeypatch):
    """As where a deliverer is killed in the middle of a round."""
    create_groups(api, *"abcd")
    note = delivery.record_attempts

    def killed(*_, **__):
        raise SystemExit

    monkeypatch.setattr(delivery, "record_attempts", killed)
    with pytest.raises(SystemExit):
        deliverer.run()
    sent = [message.headers["webhook-id"] for message in receiver.came]
    monkeypatch.setattr(delivery, "record_attempts", note)
    deliverer.run_later(seconds=11)
    fed = [event["id"] for event in api.get("events").json()][-4:]
    assert sent
    assert sent == fed[: len(sent)]
    assert [message.headers["webhook-id"] for message in receiver.came[len(sent) :]] == fed
    assert [row["eventId"] for row in list_deliveries(api, acme_endpoint)] == fed[::-1]


def test_waiting_events_are_read_in_batches_with_one_query_each(
    api, acme, acme_endpoint, deliverer, monkeypatch, django_assert_max_num_queries
):
    taken = delivery.DeliveryOutcome(duration_ms=1, status=200, response="ok")
    monkeypatch.setattr(delivery, "send_event", lambda *_, **__: taken)
    AuditEntry.objects.bulk_create(
        AuditEntry(company=acme, time=deliverer.clock(), action="account.created", entity_type="account")
        for _ in range(delivery.MAX_BATCH_EVENTS)
    )
    with django_assert_max_num_queries(delivery.MAX_BATCH_EVENTS + 40):
        assert deliverer.run() == delivery.MAX_BATCH_EVENTS


@pytest.mark.parametrize("status", ["expired", "cancelled"])
def test_expired_company_still_gets_deliveries(api, acme, acme_endpoint, receiver, deliverer, status):
    """Nothing that happened is lost, and to tell it changes nothing."""
    create_groups(api, "x")
    Company.objects.filter(id=acme.id).update(system_status=status)
    deliverer.run()
    assert receiver.types == ["accountGroup.created"]
    assert api.post(f"webhook_endpoints/{acme_endpoint['id']}/test").status_code == 200
    assert deliverer.run() == 1


def test_endpoint_leased_by_other_worker_is_skipped_until_lease_expires(api, acme_endpoint, receiver, deliverer):
    create_groups(api, "x")
    ((company_id, endpoint_id),) = delivery.list_waiting_endpoints(deliverer.clock())
    taken = delivery.acquire_lease(company_id=company_id, endpoint_id=endpoint_id, now=deliverer.clock())
    assert deliverer.deliver((company_id, endpoint_id)) == deliverer.run() == 0
    assert deliverer.run_later(seconds=11) == 1
    entry = AuditEntry.objects.order_by("-number").first()
    failed = delivery.DeliveryAttempt(
        entry, delivery.DeliveryOutcome(duration_ms=1, status=500), deliverer.clock(), None
    )
    late = delivery.record_attempts(taken, [failed], now=deliverer.clock())
    assert late is None, "what came of the first is not told over what came of the second"
    assert get_endpoint_state(api, acme_endpoint) == (True, 200, None)


# ---------------------------------------------------------------------------------------------- nowhere inside


@pytest.fixture
def name_server(monkeypatch):
    """DNS answers by host, one after another, and the addresses that were connected to."""
    text, went = {}, []

    def getaddrinfo(host, port, *args, flags=0, **kwargs):
        if flags & socket.AI_NUMERICHOST:
            raise socket.gaierror
        result = text[host].pop(0) if len(text[host]) > 1 else text[host][0]
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (each, port)) for each in result]

    def create_connection(address, timeout=None):
        went.append(address)
        raise ConnectionRefusedError

    monkeypatch.setattr(http_client.socket, "getaddrinfo", getaddrinfo)
    monkeypatch.setattr(http_client.socket, "create_connection", create_connection)
    return text, went


@pytest.mark.parametrize("found", ["10.0.0.5", "127.0.0.1", "169.254.169.254", "::1", "::ffff:10.0.0.1"])
def test_hostname_resolving_to_private_address_is_not_called(api, name_server, deliverer, found):
    text, went = name_server
    text["hooks.example.com"] = [[found]]
    hook = api.post("webhook_endpoints", {"url": "https://hooks.example.com/"}).json()
    create_groups(api, "x")
    assert deliverer.run() == 1
    assert went == []
    assert list_deliveries(api, hook)[0]["error"] == "hooks.example.com is not on a public address"


def test_hostname_rebound_to_private_address_is_not_called(api, name_server, deliverer):
    text, went = name_server
    text["hooks.example.com"] = [["1.1.1.1"], ["127.0.0.1"]]
    api.post("webhook_endpoints", {"url": "https://hooks.example.com/"})
    create_groups(api, "x")
    deliverer.run()
    deliverer.run_later(seconds=6)
    assert went == [("1.1.1.1", 443)]


def test_redirect_is_not_followed(api, acme_endpoint, receiver, deliverer):
    to = f"HTTP/1.1 307 Temporary\r\nLocation: {receiver.url('/inside')}\r\nContent-Length: 0\r\n\r\n".encode()
    receiver.answers = lambda message: lambda connection: connection.sendall(to)
    create_groups(api, "x")
    assert deliverer.run() == 1
    assert [message.path for message in receiver.came] == ["/hook"]
    assert list_deliveries(api, acme_endpoint)[0]["status"] == 307


def test_retry_schedule_follows_the_standard():
    assert sum(delivery.RETRY_DELAYS, timedelta()) == timedelta(hours=75, minutes=35, seconds=5)
    assert json.dumps([each.total_seconds() for each in delivery.RETRY_DELAYS[:3]]) == "[5.0, 300.0, 1800.0]"
