"""What really goes over the wire to the database, as libpq writes it down: no layer above can hide a statement."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager

from django.db import connection


@contextmanager
def statements_sent() -> Iterator[list[str]]:
    """Fills the list, at the end, with a line for each statement that the connection sent: simple, or prepared."""
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
