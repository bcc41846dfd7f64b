"""Writing many rows at once: one COPY, whatever their number."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import islice
from typing import Any

from django.db import connection

LINES_A_WRITE = 2000
NULL = "\\N"
ESCAPES = str.maketrans({"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r"})  # as COPY's text format writes them


@contextmanager
def copying(table: str, columns: Iterable[str], options: str = "") -> Iterator[Any]:
    """A COPY into the table; the names come from our code, never from a request."""
    statement = f"COPY {table} ({', '.join(columns)}) FROM STDIN {options}"
    with connection.cursor() as cursor, cursor.copy(statement) as copy:
        yield copy


def copy_rows(table: str, columns: Mapping[str, str], rows: Iterable[Sequence[Any]]) -> None:
    """Stores rows whose values stand in the order of ``columns``: name → PostgreSQL's name of its type.

    Binary, since that spares both sides the text.
    """
    with copying(table, columns, "(FORMAT BINARY)") as copy:
        copy.set_types(list(columns.values()))
        for row in rows:
            copy.write_row(row)


def copy_lines(table: str, columns: Iterable[str], lines: Iterable[str]) -> None:
    """Stores rows that are lines of COPY's text format already, as those of imports are: their values are texts.

    Nothing is asked of the database where there are none.
    """
    lines = iter(lines)
    chunk = "".join(islice(lines, LINES_A_WRITE))
    if chunk:
        with copying(table, columns) as copy:
            while chunk:
                copy.write(chunk)
                chunk = "".join(islice(lines, LINES_A_WRITE))


def plain(text: str | None) -> str:
    """A text that is never null, as a value of a line."""
    return text.translate(ESCAPES) if text else ""


def nullable(text: str | None) -> str:
    """A text or null, as a value of a line."""
    return NULL if text is None else text.translate(ESCAPES)
