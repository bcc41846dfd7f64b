"""The months of the audit log: parts of its table, made before they begin and taken out when nobody wants them.

What belongs to no month that is there, as where a clock is far ahead, lies in a part of its own, the rest: no entry is
ever refused. A month that is made takes over what the rest has of it. Months are those of UTC.
"""

import logging
import re
from collections.abc import Iterable
from datetime import UTC, date, datetime, time
from typing import Any

from django.db import connection, transaction
from django.db.utils import OperationalError
from psycopg.errors import LockNotAvailable

from companies.models.tenancy import IN_TURN
from companies.running import rounds

log = logging.getLogger(__name__)

LOG = "companies_auditentry"
REST = f"{LOG}_rest"
AHEAD = 3  # months after the one under way
A_MONTH = re.compile(rf"{LOG}_(\d{{4}})_(\d\d)")
TURN = "prune:months"

# The new part is made beside the log and joins it whole: who writes meanwhile waits for a moment at most. What stands
# FOR EACH ROW, the indexes and the reference to the company are the log's own and come with joining.
# Less than what ends a deadlock, so that it never ends somebody else. A cluster's machines are asked one after the
# other: asked at once, the parts that two of them lock wait for each other.
PATIENCE = ("SET LOCAL lock_timeout TO '900ms'", IN_TURN)
MAKE = (
    "LOCK TABLE {rest} IN SHARE ROW EXCLUSIVE MODE",
    "CREATE TABLE {part} (LIKE {log} INCLUDING DEFAULTS)",
)
MOVE = (
    "ALTER TABLE {rest} DISABLE TRIGGER USER",
    "INSERT INTO {part} SELECT * FROM {rest} WHERE time >= '{first}' AND time < '{following}'",
    "DELETE FROM {rest} WHERE time >= '{first}' AND time < '{following}'",
    "ALTER TABLE {rest} ENABLE TRIGGER USER",
)
JOIN = (
    "ALTER TABLE {log} ATTACH PARTITION {part} FOR VALUES FROM ('{first}') TO ('{following}')",
    "CREATE TRIGGER audit_is_never_emptied BEFORE TRUNCATE ON {part} "
    "FOR EACH STATEMENT EXECUTE FUNCTION companies_audit_is_append_only()",
)
TAKE_OUT = (
    "ALTER TABLE {log} DETACH PARTITION {part}",
    "ALTER TABLE {part} RENAME TO {name}",
)
HELD = "SELECT DISTINCT date_trunc('month', time AT TIME ZONE 'UTC')::date FROM {table} WHERE time < %s ORDER BY 1"


class NotTakenOut(Exception):
    """A month of the log could not be made a table of its own; says why."""


def make_ahead(*, now: datetime) -> list[date]:
    """Makes what is missing of the month under way and of those to come, and earlier ones that the rest has entries of;
    returns their first days.

    Each is a transaction. Where others keep the log to themselves for long it is left to the next run: there is time.
    """
    wanted, made = ahead(now), []
    for month in sorted({*wanted, *held(REST, until=following(wanted[-1]))}):
        try:
            with transaction.atomic():
                rounds.take(TURN, wait=True)
                if month not in there():
                    make(month)
                    made.append(month)
        except OperationalError as error:
            if not isinstance(error.__cause__, LockNotAvailable):
                raise
            log.warning("The audit log was busy: its month %s is to be made by the next run.", month)
    return made


def ahead(now: datetime) -> list[date]:
    """The first days of the month under way and of those to come."""
    found = [month_of(now)]
    for _ in range(AHEAD):
        found.append(following(found[-1]))
    return found


def take_out(*, before: date) -> list[str]:
    """Makes the log's months before one tables of their own, which nothing of the service reads; returns their names.

    Nothing is deleted. Raises NotTakenOut; months that came before that one are out.
    """
    names = {month: f"audit_log_{month.year:04}_{month.month:02}" for month in there() if month < before}
    for month, name in names.items():
        if rows("SELECT to_regclass(%s) IS NOT NULL", [name]) == [(True,)]:
            raise NotTakenOut(f"There is a table {name} from before: give it another name, or drop it.")
        try:
            with transaction.atomic():
                rounds.take(TURN, wait=True)
                run((*PATIENCE, *TAKE_OUT), month, name=name)
        except OperationalError as error:
            raise NotTakenOut(
                f"Others keep the log to themselves, so {name} is still part of it. Try again."
            ) from error
    return list(names.values())


def make(month: date) -> None:
    """The part of one month that is not there; within a transaction."""
    run((*PATIENCE, *MAKE), month)
    if month in held(REST, until=following(month)):
        run(MOVE, month)
    run(JOIN, month)


def there() -> list[date]:
    """The first days of the months that are parts of the log, in order."""
    parts = rows("SELECT inhrelid::regclass::text FROM pg_inherits WHERE inhparent = %s::regclass", [LOG])
    found = [A_MONTH.fullmatch(name) for (name,) in parts]
    return sorted(date(int(each[1]), int(each[2]), 1) for each in found if each)


def held(table: str, *, until: date) -> list[date]:
    """The months before one that a table has entries of."""
    return [month for (month,) in rows(HELD.format(table=table), [beginning(until)])]


def month_of(moment: datetime) -> date:
    return moment.astimezone(UTC).date().replace(day=1)


def following(month: date) -> date:
    return date(month.year + month.month // 12, month.month % 12 + 1, 1)


def beginning(month: date) -> datetime:
    return datetime.combine(month, time(), UTC)


def run(statements: Iterable[str], month: date, *, name: str = "") -> None:
    """One after the other: a cluster passes on one at a time."""
    first, after = beginning(month).isoformat(), beginning(following(month)).isoformat()
    part = f"{LOG}_{month.year:04}_{month.month:02}"
    with connection.cursor() as cursor:
        for each in statements:
            cursor.execute(each.format(log=LOG, rest=REST, part=part, first=first, following=after, name=name))


def rows(statement: str, values: list[Any]) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        return cursor.fetchall()
