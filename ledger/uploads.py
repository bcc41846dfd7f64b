"""CSV files between their upload and their import: kept for a day in the configured storage, by whom and for which
company they were sent. Nobody else finds them, for their place is made of both ids."""

from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.conf import settings
from django.core.files.storage import default_storage

from companies.errors import Missing, TooLarge
from companies.models import new_id
from companies.storing import store_whole

FOLDER = "csv-uploads"
KEPT = timedelta(days=1)


class UploadTooLarge(TooLarge):
    """The file is larger than an import may be."""

    code = "upload_too_large"


class UploadGone(Missing):
    """The file is no longer kept; upload it again."""


def most_bytes() -> int:
    return settings.MAX_UPLOAD_MB * 1024 * 1024


def keep(*, company_id: UUID, user_id: Any, file: Any) -> UUID:
    """Keeps an uploaded file (of Django's) and returns the id by which its sender finds it. Raises UploadTooLarge."""
    if file.size > most_bytes():
        raise UploadTooLarge(f"The file is larger than {settings.MAX_UPLOAD_MB} MB.")
    upload_id = new_id()
    store_whole(storage=default_storage, name=place(company_id, user_id, upload_id), content=file)
    return upload_id


def content(*, company_id: UUID, user_id: Any, upload_id: UUID) -> bytes:
    """The file's bytes. Raises UploadGone."""
    try:
        with default_storage.open(place(company_id, user_id, upload_id)) as file:
            return file.read()
    except FileNotFoundError:
        raise UploadGone from None


def check(*, company_id: UUID, user_id: Any, upload_id: UUID) -> None:
    """Raises UploadGone where the file is no longer kept."""
    if not default_storage.exists(place(company_id, user_id, upload_id)):
        raise UploadGone


def drop(*, company_id: UUID, user_id: Any, upload_id: UUID) -> None:
    default_storage.delete(place(company_id, user_id, upload_id))


def place(company_id: UUID, user_id: Any, upload_id: UUID) -> str:
    return f"{FOLDER}/{company_id}.{user_id}.{upload_id}.csv"


def prune(*, now: datetime) -> int:
    """Deletes files that nobody imported for a day, and returns how many there were."""
    try:
        _, names = default_storage.listdir(FOLDER)
    except FileNotFoundError:
        return 0
    paths = [f"{FOLDER}/{name}" for name in names]
    old = [path for path in paths if default_storage.get_modified_time(path) < now - KEPT]
    for path in old:
        default_storage.delete(path)
    return len(old)
