"""An audit log partitioned by month, of an earlier version, becomes one table with the same entries."""

from datetime import UTC, datetime
from pathlib import Path

import pytest
from django.core.management import call_command
from django.db import IntegrityError, connection, transaction
from django.db.migrations.recorder import MigrationRecorder

from companies.models import AuditEntry
from tests import cluster
from tests.companies.audit.test_numbers import list_numbers, write_entry

pytestmark = [
    pytest.mark.django_db,
    pytest.mark.skipif(cluster.TESTS_RUN_ON_CLUSTER, reason="the earlier layout is made on one machine"),
]
OLD_LAYOUT = Path(__file__).parents[2] / "data" / "partitioned_audit_log.sql"
OLD_MONTH = datetime(2019, 2, 28, 23, 59, 59, tzinfo=UTC)
LAYOUT_SQL = """
    SELECT pg_get_constraintdef(oid, true) || ' ' || conname FROM pg_constraint
     WHERE conrelid = 'companies_auditentry'::regclass AND contype <> 'n'
    UNION ALL SELECT pg_get_indexdef(indexrelid) FROM pg_index WHERE indrelid = 'companies_auditentry'::regclass
    UNION ALL SELECT pg_get_triggerdef(oid) FROM pg_trigger
     WHERE tgrelid = 'companies_auditentry'::regclass AND NOT tgisinternal
    UNION ALL SELECT pg_get_functiondef(oid) FROM pg_proc WHERE proname LIKE 'companies_audit%%'
    UNION ALL SELECT attname || format_type(atttypid, atttypmod) || attnotnull FROM pg_attribute
     WHERE attrelid = 'companies_auditentry'::regclass AND attnum > 0
     ORDER BY 1
"""


def fetch_rows(statement):
    with connection.cursor() as cursor:
        cursor.execute(statement)
        return cursor.fetchall()


def run_statement(statement):
    with connection.cursor() as cursor:
        cursor.execute(statement)


def migrate():
    MigrationRecorder(connection).record_unapplied("companies", "0003_audit_log_table")
    call_command("migrate", verbosity=0)


@pytest.fixture
def partitioned(api, acme, globex, now):
    """The earlier layout, with entries of two companies in three partitions."""
    run_statement(OLD_LAYOUT.read_text())
    for company in (acme, globex, acme):
        for time in (now, OLD_MONTH, now):
            write_entry(company, time)


def test_migration_keeps_entries_with_ids_and_numbers(partitioned, api):
    before = list(AuditEntry.objects.order_by("id").values())
    assert len({each["id"] for each in before}) == 9
    migrate()
    assert list(AuditEntry.objects.order_by("id").values()) == before
    assert fetch_rows("SELECT count(*) FROM pg_class WHERE relname ~ '^companies_(auditentry_(2|r)|logmonth)'") == [
        (0,)
    ]
    assert len(api.get("audit_log").json()) == len(api.get("events").json()) == 6


def test_migration_continues_numbers(partitioned, acme):
    assert list_numbers(acme) == [1, 2, 3, 4, 5, 6]
    migrate()
    write_entry(acme, OLD_MONTH)
    assert list_numbers(acme) == [1, 2, 3, 4, 5, 6, 7]


def test_migration_continues_numbers_of_months_that_were_moved_out(partitioned, acme, globex, api):
    """Endpoints and closings store numbers: one that is used again would hide changes from them."""
    run_statement("ALTER TABLE companies_auditentry DETACH PARTITION companies_auditentry_rest")
    write = "INSERT INTO companies_logmonth VALUES ('{}', '2030-01-01', 7, {})"
    run_statement(write.format(acme.id, 500))
    migrate()
    assert list_numbers(acme) == [2, 5, 500]
    assert list_numbers(globex) == [2, 3]
    assert api.get("audit_log").json()[0]["after"] == {"auditEntriesMovedOut": 500}
    assert write_entry(acme, OLD_MONTH).number == 501


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE companies_auditentry SET actor = 'me'",
        "DELETE FROM companies_auditentry",
        "TRUNCATE companies_auditentry",
    ],
)
def test_migrated_log_cannot_be_altered_or_truncated(partitioned, statement):
    migrate()
    with pytest.raises(IntegrityError, match="append-only"), transaction.atomic():
        run_statement(statement)


def test_migrated_log_has_same_layout_as_a_new_one(acme):
    run_statement("ALTER TABLE companies_auditentry ENABLE TRIGGER audit_is_never_emptied")  # see tests/conftest.py
    new = fetch_rows(LAYOUT_SQL)
    run_statement(OLD_LAYOUT.read_text())
    assert fetch_rows(LAYOUT_SQL) != new
    migrate()
    assert fetch_rows(LAYOUT_SQL) == new


def test_migrated_log_can_be_read_by_the_same_roles(partitioned):
    run_statement("CREATE ROLE auditor; GRANT SELECT ON companies_auditentry TO auditor, PUBLIC")
    migrate()
    privileges = "SELECT has_table_privilege('auditor', 'companies_auditentry', '{}')"
    assert [fetch_rows(privileges.format(each)) for each in ("SELECT", "INSERT")] == [[(True,)], [(False,)]]


def test_migration_leaves_one_table_as_it_is(acme, now):
    entry = write_entry(acme, now)
    before = fetch_rows("SELECT 'companies_auditentry'::regclass::oid")
    migrate()
    assert fetch_rows("SELECT 'companies_auditentry'::regclass::oid") == before
    assert AuditEntry.objects.filter(id=entry.id).exists()
