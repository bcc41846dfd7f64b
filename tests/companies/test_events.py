"""The feed of events: what was committed, in that order, each once."""

import re
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connection

from companies.models import AuditEntry

pytestmark = pytest.mark.django_db


def follow_events(api, after=None, limit=100):
    """All events after one, by the links."""
    params = {"limit": str(limit)} | ({"after": after} if after else {})
    while rows := (answer := api.get("events", params)).json():
        yield from rows
        params = {"limit": str(limit), "after": re.search(r"after=([0-9a-f-]+)", answer["Link"])[1]}


def test_event_matches_audit_entry_without_before_and_after(api):
    group = api.post("account_groups", {"name": "Banks"}, x_request_id="req-1").json()
    event, entry = api.get("events").json()[-1], api.get("audit_log").json()[0]
    assert event == {
        "id": entry["id"], "type": "accountGroup.created", "time": group["createdTime"], "entityType": "accountGroup",
        "entityId": group["id"], "actor": f"apiKey:{api.key[4:40]}", "requestId": "req-1",
    }  # fmt: skip


def test_event_feed_returns_each_event_once(api):
    for number in range(7):
        api.post("account_groups", {"name": str(number)})
    events = list(follow_events(api, limit=3))
    assert [each["id"] for each in events] == [each["id"] for each in reversed(api.get("audit_log").json())]
    nothing = api.get("events", {"after": events[-1]["id"]})
    assert (nothing.json(), nothing.has_header("Link")) == ([], False)
    later = api.post("account_groups", {"name": "later"}).json()
    assert [each["entityId"] for each in follow_events(api, events[-1]["id"])] == [later["id"]]


def test_event_feed_filters_by_type(api):
    api.post("account_groups", {"name": "A"})
    api.post("accounts", {"type": "bank", "name": "B"})
    assert {each["type"] for each in api.get("events", {"type": "account.created"}).json()} == {"account.created"}
    assert api.get("events", {"type": "accountGroup.deleted"}).json() == []


@pytest.mark.parametrize("text", ["account.create", "Account.created", "a" * 61])
def test_event_feed_rejects_unknown_type(api, text):
    answer = api.get("events", {"type": text})
    assert answer.status_code == 400
    assert [(each["pointer"], each["code"]) for each in answer.json()["errors"]] == [("#/type", "invalid_filter")]


@pytest.mark.parametrize(
    ("after", "code"),
    [("x", "invalid_cursor"), ("01a00000-0000-7000-8000-000000000000", "invalid_cursor"), ("", "invalid_filter")],
)
def test_event_feed_rejects_unknown_cursors(api, after, code):
    answer = api.get("events", {"after": after})
    assert (answer.status_code, answer.json()["errors"][0]["code"]) == (400, code)
    assert answer.json()["errors"][0]["pointer"] == "#/after"


def test_event_feed_rejects_cursor_of_another_company(api, globex_api):
    globex_api.post("account_groups", {"name": "theirs"})
    theirs = globex_api.get("events").json()[-1]["id"]
    assert api.get("events", {"after": theirs}).status_code == 400
    assert not {each["id"] for each in follow_events(api)} & {theirs}


@pytest.mark.django_db(transaction=True)
def test_event_feed_keeps_commit_order(api, acme):
    """A writer that logged first and is not done holds back whoever would come after it in the feed."""
    begun, done = threading.Event(), threading.Event()

    def slow():
        with connection.cursor() as cursor:
            cursor.execute("BEGIN")
            AuditEntry.objects.create(company_id=acme.id, time=acme.created_time, action="slow.one", entity_type="slow")
            begun.set()
            done.wait(60)
            cursor.execute("COMMIT")
        connection.close()

    def quick():
        begun.wait(60)
        api.post("account_groups", {"name": "quick"})
        connection.close()

    with ThreadPoolExecutor(2) as pool:
        first, second = pool.submit(slow), pool.submit(quick)
        begun.wait(60)
        seen = list(follow_events(api))
        done.set()
        first.result(), second.result()
    rest = list(follow_events(api, seen[-1]["id"] if seen else None))
    assert [each["type"] for each in rest] == ["slow.one", "accountGroup.created"]
    assert not {each["id"] for each in seen} & {each["id"] for each in rest}


@pytest.mark.django_db(transaction=True)
def test_event_feed_is_complete_for_readers_concurrent_with_writers(api, acme):
    def write(lane):
        for number in range(8):
            api.post("account_groups", {"name": f"{lane} {number}"})
        connection.close()

    with ThreadPoolExecutor(4) as pool:
        lanes = [pool.submit(write, lane) for lane in range(4)]
        seen, last = [], None
        while not all(lane.done() for lane in lanes) or list(follow_events(api, last)):
            seen += follow_events(api, last, limit=5)
            last = seen[-1]["id"] if seen else last
        for lane in lanes:
            lane.result()
    committed = AuditEntry.objects.for_company(acme.id).order_by("number").values_list("id", flat=True)
    assert [each["id"] for each in seen] == [str(each) for each in committed]
