"""Putting bytes into a file storage, wholly or not at all, and taking them out."""

import contextlib

from django.core.files.base import ContentFile, File
from django.core.files.storage import Storage
from django.db import transaction


def store_whole(*, storage: Storage, name: str, content: bytes | File) -> str:
    """Stores the bytes under a name that nothing else has, and returns where they are.

    Where the disk fills up half-way, or anything else goes wrong, no half of a file stays. Raises what the storage
    raises.
    """
    try:
        return str(storage.save(name, ContentFile(content) if isinstance(content, bytes) else content))
    except BaseException:
        drop(storage=storage, name=name)
        raise


def drop(*, storage: Storage, name: str) -> None:
    """Deletes the bytes, where the storage lets us: what failed before says more than that this did too."""
    with contextlib.suppress(OSError):
        storage.delete(name)


def drop_after_commit(*, storage: Storage, name: str) -> None:
    """Deletes the bytes when the change is kept, which no failure of the storage makes undone; it is logged."""
    transaction.on_commit(lambda: storage.delete(name), robust=True)
