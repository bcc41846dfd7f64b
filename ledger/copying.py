"""Writing many rows at once: one COPY, whatever their number."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from django.db import connection


def copy_rows(table: str, columns: Mapping[str, str], rows: Iterable[Sequence[Any]]) -> None:
    """Stores rows whose values stand in the order of ``columns``: name → PostgreSQL's name of its type.

    Binary, since that spares both sides the text; the names come from our code, never from a request.
    """
    statement = f"COPY {table} ({', '.join(columns)}) FROM STDIN (FORMAT BINARY)"
    with connection.cursor() as cursor, cursor.copy(statement) as copy:
        copy.set_types(list(columns.values()))
        for row in rows:
            copy.write_row(row)
