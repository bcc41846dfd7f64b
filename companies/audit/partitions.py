"""Monthly partitions of the audit log: created ahead, detached on request. Months are in UTC.

Entries outside existing partitions, such as with a wrong clock, go to the default partition, so none is
rejected. A new partition takes over its entries from there.
"""

import logging
import re
from collections.abc import Iterable
from datetime import UTC, date, datetime, time
from typing import Any

from django.db import connection, transaction
from django.db.utils import OperationalError
from psycopg.errors import LockNotAvailable

from companies.maintenance import company_batches
from companies.models.tenancy import SEQUENTIAL_MODE_SQL

log = logging.getLogger(__name__)

AUDIT_TABLE = "companies_auditentry"
DEFAULT_PARTITION = f"{AUDIT_TABLE}_rest"
MONTHS_AHEAD = 3  # after the current month
PARTITION_NAME = re.compile(rf"{AUDIT_TABLE}_(\d{{4}})_(\d\d)")
PARTITION_LOCK_NAME = "prune:months"

# The new partition is created beside the log and attached: writers wait only briefly. Row triggers, indexes and
# the foreign key come with attaching. The lock timeout is below the deadlock timeout, so that no other process
# is cancelled. Cluster machines are queried sequentially: in parallel, their partitions would wait for each other.
LOCK_TIMEOUT_SQL = ("SET LOCAL lock_timeout TO '900ms'", SEQUENTIAL_MODE_SQL)
CREATE_PARTITION_SQL = (
    "LOCK TABLE {rest} IN SHARE ROW EXCLUSIVE MODE",
    "CREATE TABLE {part} (LIKE {log} INCLUDING DEFAULTS)",
)
MOVE_ROWS_SQL = (
    "ALTER TABLE {rest} DISABLE TRIGGER USER",
    "INSERT INTO {part} SELECT * FROM {rest} WHERE time >= '{first}' AND time < '{following}'",
    "DELETE FROM {rest} WHERE time >= '{first}' AND time < '{following}'",
    "ALTER TABLE {rest} ENABLE TRIGGER USER",
)
ATTACH_PARTITION_SQL = (
    "ALTER TABLE {log} ATTACH PARTITION {part} FOR VALUES FROM ('{first}') TO ('{following}')",
    "CREATE TRIGGER audit_is_never_emptied BEFORE TRUNCATE ON {part} "
    "FOR EACH STATEMENT EXECUTE FUNCTION companies_audit_is_append_only()",
)
DETACH_PARTITION_SQL = (
    "ALTER TABLE {log} DETACH PARTITION {part}",
    "ALTER TABLE {part} RENAME TO {name}",
)
MONTHS_SQL = (
    "SELECT DISTINCT date_trunc('month', time AT TIME ZONE 'UTC')::date FROM {table} WHERE time < %s ORDER BY 1"
)


class PartitionDetachError(Exception):
    """A month of the audit log could not be detached; the message says why."""


def create_partitions_ahead(*, now: datetime) -> list[date]:
    """Create missing partitions for this month and the next ones, and for months in the default partition;
    return the months.

    Each is a transaction. If the log is locked for long, the month is left to the next run.
    """
    wanted_months, created_months = list_months_ahead(now), []
    for month in sorted(
        {*wanted_months, *list_months_with_entries(DEFAULT_PARTITION, end_month=get_next_month(wanted_months[-1]))}
    ):
        try:
            with transaction.atomic():
                company_batches.acquire_advisory_lock(PARTITION_LOCK_NAME, wait_for_others=True)
                if month not in list_partition_months():
                    create_partition(month)
                    created_months.append(month)
        except OperationalError as error:
            if not isinstance(error.__cause__, LockNotAvailable):
                raise
            log.warning("The audit log was busy. The next run creates the partition of %s.", month)
    return created_months


def list_months_ahead(now: datetime) -> list[date]:
    """Return the first days of the current and the next MONTHS_AHEAD months."""
    months = [get_month_start(now)]
    for _ in range(MONTHS_AHEAD):
        months.append(get_next_month(months[-1]))
    return months


def detach_partitions_before(*, first_kept_month: date) -> list[str]:
    """Detach the partitions before a month as separate tables; return their names. Nothing is deleted.

    Raises PartitionDetachError; partitions before the failing one stay detached.
    """
    names = {
        month: f"audit_log_{month.year:04}_{month.month:02}"
        for month in list_partition_months()
        if month < first_kept_month
    }
    for month, name in names.items():
        if fetch_partition_rows("SELECT to_regclass(%s) IS NOT NULL", [name]) == [(True,)]:
            raise PartitionDetachError(f"Table {name} already exists. Rename or drop it.")
        try:
            with transaction.atomic():
                company_batches.acquire_advisory_lock(PARTITION_LOCK_NAME, wait_for_others=True)
                execute_partition_statements((*LOCK_TIMEOUT_SQL, *DETACH_PARTITION_SQL), month, name=name)
        except OperationalError as error:
            raise PartitionDetachError(f"The audit log is locked, so {name} was not moved. Try again.") from error
    return list(names.values())


def create_partition(month: date) -> None:
    """Create the partition of one month, within a transaction."""
    execute_partition_statements((*LOCK_TIMEOUT_SQL, *CREATE_PARTITION_SQL), month)
    if month in list_months_with_entries(DEFAULT_PARTITION, end_month=get_next_month(month)):
        execute_partition_statements(MOVE_ROWS_SQL, month)
    execute_partition_statements(ATTACH_PARTITION_SQL, month)


def list_partition_months() -> list[date]:
    """Return the months that have a partition, in order."""
    partition_names = fetch_partition_rows(
        "SELECT inhrelid::regclass::text FROM pg_inherits WHERE inhparent = %s::regclass", [AUDIT_TABLE]
    )
    matches = [PARTITION_NAME.fullmatch(name) for (name,) in partition_names]
    return sorted(date(int(each[1]), int(each[2]), 1) for each in matches if each)


def list_months_with_entries(table: str, *, end_month: date) -> list[date]:
    """Return the months before `end_month` that a table has entries of."""
    return [
        month for (month,) in fetch_partition_rows(MONTHS_SQL.format(table=table), [to_month_start_time(end_month)])
    ]


def get_month_start(moment: datetime) -> date:
    """Return the first day of the month of a time, in UTC."""
    return moment.astimezone(UTC).date().replace(day=1)


def get_next_month(month: date) -> date:
    """Return the first day of the next month."""
    return date(month.year + month.month // 12, month.month % 12 + 1, 1)


def to_month_start_time(month: date) -> datetime:
    """Return the start of a month as a time in UTC."""
    return datetime.combine(month, time(), UTC)


def execute_partition_statements(statements: Iterable[str], month: date, *, name: str = "") -> None:
    """Execute statements one by one: a cluster accepts one at a time."""
    month_start, next_month_start = (
        to_month_start_time(month).isoformat(),
        to_month_start_time(get_next_month(month)).isoformat(),
    )
    partition = f"{AUDIT_TABLE}_{month.year:04}_{month.month:02}"
    with connection.cursor() as cursor:
        for statement in statements:
            cursor.execute(
                statement.format(
                    log=AUDIT_TABLE,
                    rest=DEFAULT_PARTITION,
                    part=partition,
                    first=month_start,
                    following=next_month_start,
                    name=name,
                )
            )


def fetch_partition_rows(statement: str, values: list[Any]) -> list[tuple[Any, ...]]:
    """Execute a query and return its rows."""
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        return cursor.fetchall()
