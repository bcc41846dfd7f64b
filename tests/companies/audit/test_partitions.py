"""The months of the audit log: parts of its table, made before they begin and taken out when nobody wants them."""

import re
from datetime import UTC, date, datetime, timedelta

import psycopg
import pytest
from django.conf import settings
from django.core.management import CommandError, call_command
from django.db import IntegrityError, connection, transaction
from django.test.utils import CaptureQueriesContext

from companies.audit import partitions
from companies.models import AuditEntry, LogMonth
from tests import cluster

pytestmark = [
    pytest.mark.django_db,
    pytest.mark.skipif(cluster.TESTS_RUN_ON_CLUSTER, reason="a part has another name on each machine of a cluster"),
]
FAR_FUTURE = datetime(2091, 5, 17, 12, tzinfo=UTC)  # no test comes near
LONG_AGO = datetime(2019, 2, 28, 23, 59, 59, tzinfo=UTC)
LOCK_TIMEOUT = partitions.LOCK_TIMEOUT_SQL


@pytest.fixture(autouse=True)
def patient(monkeypatch):
    """On a busy machine the server takes its time to clean up behind other tests, and keeps a part meanwhile."""
    monkeypatch.setattr(partitions, "LOCK_TIMEOUT_SQL", ("SET LOCAL lock_timeout TO '5min'", *LOCK_TIMEOUT[1:]))


def write_entry(company, time, action="x.y"):
    return AuditEntry.objects.create(company=company, time=time, action=action, entity_type="x")


def get_partition(entry):
    return fetch_rows("SELECT tableoid::regclass::text FROM companies_auditentry WHERE id = %s", entry.id)[0][0]


def fetch_rows(statement, *values):
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        return cursor.fetchall()


def run_statement(statement):
    with connection.cursor() as cursor:
        cursor.execute(statement)


def test_audit_partitions_exist_for_current_and_next_three_months(acme, now):
    parts = [
        get_partition(write_entry(acme, datetime.combine(each, datetime.min.time(), UTC)))
        for each in partitions.list_months_ahead(now)
    ]
    assert parts == [f"companies_auditentry_{each:%Y_%m}" for each in partitions.list_months_ahead(now)]
    assert len({*parts}) == 4


def test_audit_partition_creation_is_idempotent():
    made = partitions.create_partitions_ahead(now=FAR_FUTURE)
    assert made == [date(2091, 5, 1), date(2091, 6, 1), date(2091, 7, 1), date(2091, 8, 1)]
    assert partitions.create_partitions_ahead(now=FAR_FUTURE) == []
    assert partitions.create_partitions_ahead(now=FAR_FUTURE + timedelta(days=31)) == [date(2091, 9, 1)]


def test_audit_partition_months_follow_utc_and_year_end(acme):
    assert partitions.create_partitions_ahead(now=datetime(2091, 11, 30, 23, tzinfo=UTC))[-1] == date(2092, 2, 1)
    moment = datetime.fromisoformat("2092-01-01T00:30:00+02:00")
    assert get_partition(write_entry(acme, moment)) == "companies_auditentry_2091_12"
    assert get_partition(write_entry(acme, datetime(2092, 1, 1, tzinfo=UTC))) == "companies_auditentry_2092_01"


@pytest.mark.parametrize("time", [FAR_FUTURE, LONG_AGO], ids=["a clock far ahead", "a month that nobody made"])
def test_audit_entry_without_month_partition_goes_to_default_partition(api, acme, time):
    entry = write_entry(acme, time)
    assert get_partition(entry) == partitions.DEFAULT_PARTITION
    assert str(entry.id) in {row["id"] for row in api.get("audit_log").json()}
    assert api.get("events").json()[-1]["id"] == str(entry.id)
    assert api.get("events", {"after": str(entry.id)}).json() == []


def test_new_audit_partition_takes_rows_from_default_partition(acme):
    early, late, other = (
        write_entry(acme, FAR_FUTURE),
        write_entry(acme, FAR_FUTURE + timedelta(days=14)),
        write_entry(acme, FAR_FUTURE + timedelta(days=400)),
    )
    before = list(AuditEntry.objects.order_by("number").values())
    assert date(2091, 5, 1) in partitions.create_partitions_ahead(now=FAR_FUTURE)
    assert [get_partition(each) for each in (early, late, other)] == ["companies_auditentry_2091_05"] * 2 + [
        partitions.DEFAULT_PARTITION
    ]
    assert list(AuditEntry.objects.order_by("number").values()) == before
    with pytest.raises(IntegrityError, match="append-only"), transaction.atomic():
        run_statement(f"DELETE FROM {partitions.DEFAULT_PARTITION}")


def test_audit_partitions_are_created_for_missed_past_months(acme):
    entry = write_entry(acme, LONG_AGO)
    assert date(2019, 2, 1) in partitions.create_partitions_ahead(now=datetime.now(tz=UTC))
    assert get_partition(entry) == "companies_auditentry_2019_02"


@pytest.mark.parametrize("statement", ["UPDATE {} SET actor = 'me'", "DELETE FROM {}", "TRUNCATE {}"])
@pytest.mark.parametrize("time", [None, FAR_FUTURE, LONG_AGO], ids=["of this month", "made later", "of the rest"])
def test_audit_partitions_cannot_be_altered_or_truncated(acme, now, time, statement):
    partitions.create_partitions_ahead(now=FAR_FUTURE)
    part = get_partition(write_entry(acme, time or now))
    run_statement(f"ALTER TABLE {part} ENABLE TRIGGER audit_is_never_emptied")  # see tests/conftest.py
    with pytest.raises(IntegrityError, match="append-only"), transaction.atomic():
        run_statement(statement.format(part))


def test_new_audit_partition_has_same_constraints_indexes_and_triggers(acme, now):
    def like(month):
        part = f"companies_auditentry_{month:%Y_%m}"
        rows = fetch_rows(
            "SELECT pg_get_constraintdef(oid) FROM pg_constraint WHERE conrelid = %s::regclass AND contype <> 'n' "
            "UNION ALL SELECT substring(pg_get_indexdef(indexrelid) FROM 'USING.*') FROM pg_index WHERE indrelid = "
            "%s::regclass UNION ALL SELECT tgname || tgtype FROM pg_trigger WHERE tgrelid = %s::regclass "
            "AND NOT tgisinternal ORDER BY 1",
            *[part] * 3,
        )
        return [each for (each,) in rows]

    assert like(partitions.create_partitions_ahead(now=FAR_FUTURE)[0]) == like(partitions.get_month_start(now))
    assert len(like(date(2091, 5, 1))) == 2 + 5 + 3


def test_audit_numbers_are_consecutive_regardless_of_clock(api, acme, now):
    for time in (now, FAR_FUTURE, now, LONG_AGO, now):
        write_entry(acme, time)
    numbers = list(AuditEntry.objects.for_company(acme.id).order_by("id").values_list("number", flat=True))
    assert numbers == list(range(1, len(numbers) + 1))
    assert LogMonth.objects.for_company(acme.id).get_newest_number() == numbers[-1]
    ids = [
        str(each) for each in AuditEntry.objects.for_company(acme.id).order_by("number").values_list("id", flat=True)
    ]
    for place, event in enumerate(ids):
        for limit in (1, 2, 100):
            page = api.get("events", {"after": event, "limit": limit}).json()
            assert [each["id"] for each in page] == ids[place + 1 :][:limit]


def test_event_feed_page_reads_only_partitions_of_its_months(acme, now):
    first, second, *_ = [write_entry(acme, now - timedelta(days=days)) for days in (800, 800, 400)]
    partitions.create_partitions_ahead(now=now)
    number = AuditEntry.objects.get(id=first.id).number
    with CaptureQueriesContext(connection) as queries:
        page = AuditEntry.objects.list_page_after(number, company_id=acme.id, limit=1)
    assert [each.id for each in page] == [second.id]
    assert len(queries) == 2
    plan = "".join(line for (line,) in fetch_rows(f"EXPLAIN {queries[1]['sql']}"))
    assert f"companies_auditentry_{now - timedelta(days=800):%Y_%m}" in plan
    assert f"companies_auditentry_{now - timedelta(days=400):%Y_%m}" not in plan


def test_event_feed_continues_after_detached_months_and_filtered_events(api, acme, now):
    for days in (800, 800, 800, 0):
        write_entry(acme, now - timedelta(days=days), action="account.created")
    write_entry(acme, now, action="account.updated")
    partitions.create_partitions_ahead(now=now)
    partitions.detach_partitions_before(first_kept_month=partitions.get_month_start(now - timedelta(days=400)))
    whole = [each["id"] for each in api.get("events").json()]
    assert len(whole) == AuditEntry.objects.for_company(acme.id).count()
    paged = [api.get("events?limit=1").json()[0]["id"]]
    while page := api.get("events", {"limit": 1, "after": paged[-1]}).json():
        paged.append(page[0]["id"])
    assert paged == whole
    assert [each["type"] for each in api.get("events?limit=1&type=account.updated").json()] == ["account.updated"]


def test_event_feed_cursor_reads_only_partitions_from_its_month_on(acme, now):
    write_entry(acme, now - timedelta(days=800))
    partitions.create_partitions_ahead(now=now)
    last = write_entry(acme, now)
    write_entry(acme, now)
    number = AuditEntry.objects.get(id=last.id).number
    plan = AuditEntry.objects.after_number(number, company_id=acme.id).explain()
    assert f"companies_auditentry_{now:%Y_%m}" in plan
    assert f"companies_auditentry_{now - timedelta(days=800):%Y_%m}" not in plan


def test_audit_log_pagination_is_complete_across_distant_months(api, acme, now):
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


@pytest.mark.django_db(transaction=True)
def test_audit_partition_creation_is_postponed_if_table_is_locked(caplog, monkeypatch):
    monkeypatch.setattr(partitions, "LOCK_TIMEOUT_SQL", LOCK_TIMEOUT)
    with psycopg.connect(**connection.get_connection_params()) as other:
        other.execute("LOCK TABLE ONLY companies_auditentry IN ACCESS EXCLUSIVE MODE")
        assert partitions.create_partitions_ahead(now=FAR_FUTURE) == []
    assert "was busy" in caplog.text


def test_prune_detaches_old_audit_partitions_on_request_without_deleting(api, acme, now, capsys):
    old, young = write_entry(acme, LONG_AGO), write_entry(acme, now)
    call_command("prune", log_before=date(2019, 3, 1))
    assert "audit_log_2019_02 moved out of the audit log.\n" in capsys.readouterr().out
    assert fetch_rows("SELECT id FROM audit_log_2019_02") == [(old.id,)]
    ids = {row["id"] for row in api.get("audit_log").json()}
    assert (str(old.id) in ids, str(young.id) in ids) == (False, True)
    assert api.get("events", {"after": str(old.id)}).json()["errors"][0]["code"] == "invalid_cursor"


def test_detached_audit_partition_can_be_reattached_as_documented(api, acme):
    """As docs/operations.md says."""
    old = write_entry(acme, LONG_AGO)
    call_command("prune", log_before=date(2019, 3, 1))
    page = (settings.ROOT / "docs" / "operations.md").read_text()
    for statement in re.findall(r'psql --command="(ALTER TABLE [^"]+)"', page):
        run_statement(
            statement.replace("2023_12", "2019_02").replace("2023-12", "2019-02").replace("2024-01", "2019-03")
        )
    assert get_partition(old) == "companies_auditentry_2019_02"
    assert str(old.id) in {row["id"] for row in api.get("audit_log").json()}
    with pytest.raises(IntegrityError, match="append-only"), transaction.atomic():
        run_statement("DELETE FROM companies_auditentry_2019_02")


def test_audit_number_is_not_reused_after_detaching_its_month(acme):
    last = write_entry(acme, LONG_AGO)
    number = AuditEntry.objects.get(id=last.id).number
    partitions.create_partitions_ahead(now=datetime.now(tz=UTC))
    partitions.detach_partitions_before(first_kept_month=date(2019, 3, 1))
    assert AuditEntry.objects.get(id=write_entry(acme, LONG_AGO).id).number == number + 1


def test_late_rows_do_not_replace_archived_partitions(acme):
    old = write_entry(acme, LONG_AGO)
    call_command("prune", log_before=date(2019, 3, 1))
    late = write_entry(acme, LONG_AGO)
    with pytest.raises(CommandError, match="audit_log_2019_02 already exists"):
        call_command("prune", log_before=date(2019, 3, 1))
    assert fetch_rows("SELECT id FROM audit_log_2019_02") == [(old.id,)]
    assert get_partition(late) == "companies_auditentry_2019_02"


def test_prune_keeps_all_audit_partitions_by_default(acme, now):
    entry = write_entry(acme, LONG_AGO)
    call_command("prune")
    assert AuditEntry.objects.filter(id=entry.id).exists()


def test_prune_refuses_to_detach_current_month(now):
    with pytest.raises(CommandError, match=r"--log-before must not be later than the current month."):
        call_command("prune", log_before=partitions.get_next_month(partitions.get_month_start(now)))


def test_prune_rejects_invalid_log_before_month():
    with pytest.raises(CommandError, match="--log-before"):
        call_command("prune", "--log-before", "May")
