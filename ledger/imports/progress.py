"""The progress of imports that a user waits for.

A database transaction shows nothing before it ends, and another process or machine may answer the next
request. So a note is stored beside the uploaded files, at most once a second; faster work writes none.
"""

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, Protocol
from uuid import UUID

from django.core.files.base import ContentFile
from django.core.files.storage import default_storage

PROGRESS_FOLDER = "import-progress"
NOTE_INTERVAL_SECONDS = 1.0  # seconds from one note to the next
ROWS_PER_NOTE = 1000
BYTES, ROWS = "bytes", "rows"


@dataclass(slots=True)
class TrackedImport:
    """The files of one import that a user waits for."""

    note_name: str
    files: int
    file: int = 0
    last: float = field(default_factory=time.monotonic)
    has_noted: bool = False

    def write_progress(self, kind: str, done_count: int, total: int) -> None:
        """Write the progress. The end of a part of long work is always written, since what follows is not counted."""
        now = time.monotonic()
        if now - self.last >= NOTE_INTERVAL_SECONDS or (self.has_noted and done_count == total):
            self.last, self.has_noted = now, True
            note = {"file": self.file, "files": self.files, "kind": kind, "done": done_count, "of": total}
            with suppress(OSError):  # a note that cannot be written stops no import
                delete_progress_file(self.note_name)
                default_storage.save(self.note_name, ContentFile(json.dumps(note).encode()))


_tracked_import: ContextVar[TrackedImport | None] = ContextVar("watched", default=None)


@contextmanager
def track_import_progress(*, company_id: UUID, user_id: Any, upload_id: UUID, files: int = 1) -> Iterator[None]:
    """Track the work on files of which the first was uploaded under this id; the note is deleted at the end."""
    tracked = TrackedImport(build_progress_file_name(company_id, user_id, upload_id), files)
    token = _tracked_import.set(tracked)
    try:
        yield
    finally:
        _tracked_import.reset(token)
        delete_progress_file(tracked.note_name)


def start_next_file() -> None:
    """Start the next file."""
    if tracked := _tracked_import.get():
        tracked.file += 1


def report_import_progress(kind: str, done_count: int, total: int) -> None:
    """Report how much is done; does nothing if nobody waits."""
    if tracked := _tracked_import.get():
        tracked.write_progress(kind, done_count, total)


class SizedRows(Protocol):
    """Rows whose number is known before they are made."""

    def __len__(self) -> int: ...

    def __iter__(self) -> Iterator[Any]: ...


def track_row_progress(rows: SizedRows) -> Iterator[Any]:
    """Yield the rows and report the progress."""
    for number, row in enumerate(rows):
        if number % ROWS_PER_NOTE == 0:
            report_import_progress(ROWS, number, len(rows))
        yield row
    report_import_progress(ROWS, len(rows), len(rows))


def read_import_progress(*, company_id: UUID, user_id: Any, upload_id: UUID) -> dict[str, Any]:
    """Return the last note; empty if there is none, or while it is written."""
    try:
        with default_storage.open(build_progress_file_name(company_id, user_id, upload_id)) as file:
            return json.loads(file.read())
    except (FileNotFoundError, ValueError):
        return {}


def build_progress_file_name(company_id: UUID, user_id: Any, upload_id: UUID) -> str:
    return f"{PROGRESS_FOLDER}/{company_id}.{user_id}.{upload_id}.json"


def delete_progress_file(name: str) -> None:
    with suppress(FileNotFoundError):
        default_storage.delete(name)
