"""Writing and deleting files in a storage, completely or not at all."""

import contextlib

from django.core.files.base import ContentFile, File
from django.core.files.storage import Storage
from django.db import transaction


def save_to_storage(*, storage: Storage, name: str, content: bytes | File) -> str:
    """Save a file under a unique name and return the name; a partial file is deleted on failure.

    Raises what the storage raises.
    """
    try:
        return str(storage.save(name, ContentFile(content) if isinstance(content, bytes) else content))
    except BaseException:
        delete_from_storage(storage=storage, name=name)
        raise


def delete_from_storage(*, storage: Storage, name: str) -> None:
    """Delete a file; errors are suppressed, as this runs after another failure."""
    with contextlib.suppress(OSError):
        storage.delete(name)


def delete_from_storage_after_commit(*, storage: Storage, name: str) -> None:
    """Delete a file after the commit; a failure is logged and does not undo the change."""
    transaction.on_commit(lambda: storage.delete(name), robust=True)
