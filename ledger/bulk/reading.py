"""Reading many rows at once: one COPY into a temporary file, from which they are read one by one."""

import re
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import IO, Any

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


def spool_rows(query: str, params: Sequence[Any]) -> IO[bytes]:
    """Copy the rows of a query into a temporary file; ``read_rows`` reads them. Close the file afterwards.

    The database is busy for as long as it takes to run the query, however slow the receiver of the rows is. The
    driver's own reader of rows takes four times as long.
    """
    ops: Any = connection.ops
    statement = ops.compose_sql(f"COPY ({query}) TO STDOUT (NULL '')", params)  # COPY itself takes no parameters
    file = tempfile.TemporaryFile()  # noqa: SIM115 - the caller closes it
    try:
        with connection.cursor() as cursor, cursor.copy(statement) as copy:
            file.writelines(copy)
        file.seek(0)
    except BaseException:
        file.close()
        raise
    return file


def read_rows(lines: Iterable[bytes]) -> Iterator[list[str]]:
    """Yield the rows of a file of ``spool_rows``, each value as the database writes it, "" for null.

    >>> list(read_rows([b"1\\ta\\\\nb\\t\\n"]))
    [['1', 'a\\nb', '']]
    """
    for line in lines:
        text = str(line, "utf-8")
        row = text[:-1].split("\t")
        yield [ESCAPED.sub(unescaped, value) for value in row] if "\\" in text else row


ESCAPED = re.compile(r"\\(.)")
LETTERS = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}  # of COPY's text format


def unescaped(found: re.Match[str]) -> str:
    return LETTERS.get(found[1], found[1])
