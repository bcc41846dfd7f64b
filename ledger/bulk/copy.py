"""Store many rows with one COPY statement."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import islice
from typing import Any

from django.db import connection

LINES_PER_WRITE = 2000
NULL = "\\N"
ESCAPES = str.maketrans({"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r"})  # as COPY's text format writes them


@contextmanager
def open_copy_stream(table: str, columns: Iterable[str], options: str = "") -> Iterator[Any]:
    """Open a COPY into a table. Table and column names come from our code, never from a request."""
    statement = f"COPY {table} ({', '.join(columns)}) FROM STDIN {options}"
    with connection.cursor() as cursor, cursor.copy(statement) as copy:
        yield copy


def copy_rows(table: str, columns: Mapping[str, str], rows: Iterable[Sequence[Any]]) -> None:
    """Store rows with a binary COPY.

    Args:
        columns: column name -> PostgreSQL type name; rows have their values in this order.
    """
    with open_copy_stream(table, columns, "(FORMAT BINARY)") as copy:
        copy.set_types(list(columns.values()))
        for row in rows:
            copy.write_row(row)


def copy_lines(table: str, columns: Iterable[str], lines: Iterable[str]) -> None:
    """Store rows that are already lines of COPY's text format. Without any, no statement is run."""
    lines = iter(lines)
    chunk = "".join(islice(lines, LINES_PER_WRITE))
    if chunk:
        with open_copy_stream(table, columns) as copy:
            while chunk:
                copy.write(chunk)
                chunk = "".join(islice(lines, LINES_PER_WRITE))


def escape_copy_text(text: str | None) -> str:
    """Escape a text for a COPY line; None becomes an empty text."""
    return text.translate(ESCAPES) if text else ""


def escape_nullable_copy_text(text: str | None) -> str:
    """Escape a text for a COPY line; None becomes NULL."""
    return NULL if text is None else text.translate(ESCAPES)
