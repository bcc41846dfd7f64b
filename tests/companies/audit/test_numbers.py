"""Numbers of audit entries, and the lists that follow time and number: complete, and read from an index."""

import re
from datetime import UTC, datetime, timedelta

import pytest
from django.db import IntegrityError, connection, transaction
from django.test.utils import CaptureQueriesContext

from companies.models import AuditEntry

pytestmark = pytest.mark.django_db
FAR_FUTURE = datetime(2091, 5, 17, 12, tzinfo=UTC)
LONG_AGO = datetime(2019, 2, 28, 23, 59, 59, tzinfo=UTC)


def write_entry(company, time, action="x.y"):
    entry = AuditEntry.objects.create(company=company, time=time, action=action, entity_type="x")
    entry.refresh_from_db()
    return entry


def list_numbers(company):
    return list(AuditEntry.objects.for_company(company.id).order_by("number").values_list("number", flat=True))


def test_audit_numbers_are_consecutive_regardless_of_clock(api, acme, now):
    for time in (now, FAR_FUTURE, now, LONG_AGO, now):
        write_entry(acme, time)
    entries = AuditEntry.objects.for_company(acme.id)
    numbers = list(entries.order_by("id").values_list("number", flat=True))
    assert numbers == list(range(1, len(numbers) + 1))
    assert entries.get_newest_number() == numbers[-1]
    ids = [str(each) for each in entries.order_by("number").values_list("id", flat=True)]
    for place, event in enumerate(ids):
        for limit in (1, 2, 100):
            page = api.get("events", {"after": event, "limit": limit}).json()
            assert [each["id"] for each in page] == ids[place + 1 :][:limit]


def test_each_company_has_its_own_audit_numbers(acme, globex, now):
    for company in (acme, globex, acme):
        write_entry(company, now)
    assert (list_numbers(acme), list_numbers(globex)) == ([1, 2, 3], [1, 2])  # 1 is the company's creation
    assert AuditEntry.objects.none().get_newest_number() == 0


def test_entries_of_one_statement_are_numbered_in_order(acme, now):
    AuditEntry.objects.bulk_create(
        AuditEntry(company=acme, time=now, action="x.y", entity_type="x", entity_id=str(n)) for n in range(2, 52)
    )
    rows = AuditEntry.objects.for_company(acme.id).filter(action="x.y").values_list("number", "entity_id")
    assert all(str(number) == entity_id for number, entity_id in rows)
    assert len(rows) == 50


def test_database_rejects_an_audit_number_used_twice(acme, now):
    write_entry(acme, now)
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE companies_auditentry DISABLE TRIGGER audit_is_numbered")
        with pytest.raises(IntegrityError, match="audit_entry_number_once"), transaction.atomic():
            AuditEntry.objects.create(company=acme, time=now, action="x.y", entity_type="x", number=1)


def test_event_feed_is_complete_with_filtered_events_between(api, acme, now):
    for days in (800, 800, 800, 0):
        write_entry(acme, now - timedelta(days=days), action="account.created")
    write_entry(acme, now, action="account.updated")
    whole = [each["id"] for each in api.get("events").json()]
    assert len(whole) == AuditEntry.objects.for_company(acme.id).count()
    paged = [api.get("events?limit=1").json()[0]["id"]]
    while page := api.get("events", {"limit": 1, "after": paged[-1]}).json():
        paged.append(page[0]["id"])
    assert paged == whole
    assert [each["type"] for each in api.get("events?limit=1&type=account.updated").json()] == ["account.updated"]


def test_audit_log_pagination_is_complete_across_distant_times(api, acme, now):
    for days in (0, 0, 1, 20, 40, 41, 400, 401, 900, -500):
        write_entry(acme, now - timedelta(days=days))
    whole = [row["id"] for row in api.get("audit_log").json()]
    assert whole == [str(e.id) for e in AuditEntry.objects.for_company(acme.id).order_by("-time", "-id")]
    for limit in (1, 3, 4):
        seen, address = [], f"audit_log?limit={limit}"
        while address:
            answer = api.get(address)
            seen += [row["id"] for row in answer.json()]
            address = answer["Link"][1:].partition(">")[0] if answer.has_header("Link") else ""
        assert seen == whole


@pytest.mark.parametrize(
    ("path", "index"),
    [
        ("audit_log?limit=10", "audit_entry_by_time"),
        ("audit_log?limit=10&cursor={cursor}", "audit_entry_by_time"),
        ("events?limit=10", "audit_entry_number_once"),
        ("events?limit=10&after={after}", "audit_entry_number_once"),
    ],
)
def test_pages_of_the_log_are_read_in_the_order_of_an_index(api, acme, now, path, index):
    AuditEntry.objects.bulk_create(
        AuditEntry(company=acme, time=now - timedelta(minutes=n), action="x.y", entity_type="x") for n in range(3000)
    )
    first = api.get("audit_log?limit=10")
    values = {"cursor": re.search(r"cursor=([\w-]+)", first["Link"])[1], "after": first.json()[0]["id"]}
    with connection.cursor() as cursor, CaptureQueriesContext(connection) as queries:
        cursor.execute("ANALYZE companies_auditentry")
        assert api.get(path.format(**values)).status_code == 200
        page_query = [each["sql"] for each in queries if 'FROM "companies_auditentry"' in each["sql"]][-1]
        cursor.execute(f"EXPLAIN {page_query}")
        plan = "\n".join(line for (line,) in cursor.fetchall())
    assert "LIMIT 1" in page_query
    assert index in plan
    assert "Sort" not in plan
