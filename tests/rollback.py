"""Undo the changes of one test case, so that several cases share the rows of one test."""

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import transaction


@contextmanager
def undo_changes() -> Iterator[None]:
    """Roll back the database changes of the block at its end."""
    with transaction.atomic():
        yield
        transaction.set_rollback(True)
