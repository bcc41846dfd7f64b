"""The first statement of a request: a short SELECT before everything else, whose price every request pays."""

import hashlib
import re
from collections.abc import Mapping, Sequence
from typing import Any
from weakref import WeakKeyDictionary

import psycopg
from django.db import InterfaceError, OperationalError, connection
from psycopg.adapt import Transformer
from psycopg.errors import error_from_result
from psycopg.pq import ConnStatus, DiagnosticField, ExecStatus
from psycopg.pq.abc import PGresult

PREPARED: WeakKeyDictionary[psycopg.Connection, dict[str, bytes | None]] = WeakKeyDictionary()
ALREADY_PREPARED = b"42P05"
PLAN_LOST = (b"26000", b"0A000")  # there is no such statement; its answer would have other types


def first_row(statement: str, values: Sequence[str]) -> tuple[Any, ...] | None:
    """The only row that the first statement of a request answers, or None; ``$1`` stands for its first value.

    Django asks the server whether a kept connection still lives before it is used again. This statement asks the same:
    where the connection turns out dead it is made anew, and the statement sent once more.
    """
    connection.health_check_done = True  # type: ignore[attr-defined]
    try:
        return row_in_one_call(statement, values)
    except (OperationalError, InterfaceError):
        if connection.in_atomic_block:
            raise
        connection.close()
        return row_in_one_call(statement, values)


def row_in_one_call(statement: str, values: Sequence[str]) -> tuple[Any, ...] | None:
    """The only row of a short SELECT, by one call of libpq.

    psycopg sends, waits and reads in steps, that a long statement may be interrupted; each step lets go of the
    interpreter, which the worker's other thread then keeps. Without them a request takes a fifth less of a processor.
    """
    if connection.queries_logged:  # someone wants to see the statements: they must pass by Django
        return row_of(re.sub(r"\$\d+", "%s", statement), values)
    connection.ensure_connection()
    driver = connection.connection
    with connection.wrap_database_errors:
        result = answered(driver, statement, [c_string(value) for value in values])
        if result.status != ExecStatus.TUPLES_OK:
            # libpq's own errors have no code; that the connection is gone it may notice only later.
            lost = driver.pgconn.status == ConnStatus.BAD or code_of(result) is None
            raise psycopg.OperationalError(result.get_error_message()) if lost else error_from_result(result)
        reader = Transformer(driver)
        reader.set_pgresult(result)
        return reader.load_row(0, tuple) if result.ntuples else None


def answered(driver: psycopg.Connection, statement: str, values: list[bytes]) -> PGresult:
    """The answer to a statement that the connection keeps prepared, for planning its joins takes longer than reading
    its rows. Behind a pooler that hands another connection to each statement, or after a change of the tables, the plan
    is gone: then the statement is planned every time.
    """
    kept = PREPARED.setdefault(driver, {})
    if statement not in kept:
        # Named after its text, so that whoever prepared what lies under the name, it is this statement.
        made = f"first_{hashlib.sha256(statement.encode()).hexdigest()[:32]}".encode()
        result = driver.pgconn.prepare(made, statement.encode())
        if result.status != ExecStatus.COMMAND_OK and code_of(result) != ALREADY_PREPARED:
            return result
        kept[statement] = made
    if (name := kept[statement]) is not None:
        result = driver.pgconn.exec_prepared(name, values)
        if code_of(result) not in PLAN_LOST:
            return result
        kept[statement] = None
    return driver.pgconn.exec_params(statement.encode(), values)


def code_of(result: PGresult) -> bytes | None:
    return result.error_field(DiagnosticField.SQLSTATE)


def c_string(value: str) -> bytes:
    """As libpq reads it, which stops at a NUL: one that has it is another value."""
    if "\0" in value:
        raise psycopg.DataError("a text cannot contain NUL")
    return value.encode()


def row_of(statement: str, values: Sequence[Any] | Mapping[str, Any]) -> tuple[Any, ...] | None:
    """The only row that a statement answers, or None."""
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        return cursor.fetchone()
