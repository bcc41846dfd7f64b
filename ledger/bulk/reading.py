"""Reading many rows at once: one COPY, row by row as they come, however many there are."""

from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from django.db import connection, transaction


@contextmanager
def one_moment() -> Iterator[None]:
    """All statements inside see the same state of the data, whatever others commit meanwhile, and days as ISO 8601.

    Inside a transaction that is under way it is that one's view that they have.
    """
    begins = not connection.in_atomic_block
    with transaction.atomic(), connection.cursor() as cursor:
        if begins:
            cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
        cursor.execute("SET LOCAL datestyle TO ISO")
        yield


def copied(query: str, params: Sequence[Any]) -> Generator[tuple[Any, ...]]:
    """The rows of a query, each value as the database writes it, None for null. Close it where not all are read."""
    ops: Any = connection.ops
    statement = ops.compose_sql(f"COPY ({query}) TO STDOUT", params)  # COPY itself takes no parameters
    with connection.cursor() as cursor, cursor.copy(statement) as copy:
        yield from copy.rows()
