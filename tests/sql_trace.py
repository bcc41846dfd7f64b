"""Record the statements sent to the database with libpq's trace, below every other layer."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager

from django.db import connection


@contextmanager
def record_statements() -> Iterator[list[str]]:
    """Fill the list, at the end, with one line for each simple or prepared statement that the connection sent."""
    sent: list[str] = []
    with tempfile.TemporaryFile("w+") as file:
        driver = connection.connection.pgconn
        driver.trace(file.fileno())
        try:
            yield sent
        finally:
            driver.untrace()
        file.seek(0)
        messages = [line.rstrip("\n").split("\t") for line in file]
        sent += [
            "\t".join(rest) for _, side, _, kind, *rest in messages if side == "F" and kind in {"Query", "Execute"}
        ]
