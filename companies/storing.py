"""Putting bytes into a file storage, wholly or not at all."""

import contextlib

from django.core.files.base import ContentFile
from django.core.files.storage import Storage


def store_whole(*, storage: Storage, name: str, content: bytes) -> str:
    """Stores the bytes under a name that nothing else has, and returns where they are.

    Where the disk fills up half-way, or anything else goes wrong, no half of a file stays. Raises what the storage
    raises.
    """
    try:
        return str(storage.save(name, ContentFile(content)))
    except BaseException:
        with contextlib.suppress(OSError):
            storage.delete(name)
        raise
