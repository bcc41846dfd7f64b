"""Undo what one of several cases did, so that they can share the rows that a test created."""

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import transaction


@contextmanager
def undo_changes() -> Iterator[None]:
    """Roll the database back to where it was, at the end of the block."""
    with transaction.atomic():
        yield
        transaction.set_rollback(True)
