"""How far the server is with files that somebody waits for.

A transaction shows nobody what it does before it ends, and the next question may be answered by another process or
machine. So a note lies in the storage, where the files themselves wait, and is written anew once a second at most; work
that is done sooner leaves none.
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

FOLDER = "import-progress"
APART = 1.0  # seconds from one note to the next
ROWS_APART = 1000
BYTES, ROWS = "bytes", "rows"


@dataclass(slots=True)
class Watched:
    """Files that are worked on, for one person who waits."""

    place: str
    files: int
    file: int = 0
    last: float = field(default_factory=time.monotonic)
    told: bool = False

    def note(self, kind: str, done: int, of: int) -> None:
        """Of long work the end of a part is always told: what follows, rules and balances, counts nothing."""
        now = time.monotonic()
        if now - self.last >= APART or (self.told and done == of):
            self.last, self.told = now, True
            said = {"file": self.file, "files": self.files, "kind": kind, "done": done, "of": of}
            with suppress(OSError):  # a note that cannot be written stops no import
                forget(self.place)
                default_storage.save(self.place, ContentFile(json.dumps(said).encode()))


_watched: ContextVar[Watched | None] = ContextVar("watched", default=None)


@contextmanager
def watched(*, company_id: UUID, user_id: Any, upload_id: UUID, files: int = 1) -> Iterator[None]:
    """Around work on files of which the first was uploaded under the id; nothing of it stays behind."""
    waits = Watched(place(company_id, user_id, upload_id), files)
    before = _watched.set(waits)
    try:
        yield
    finally:
        _watched.reset(before)
        forget(waits.place)


def next_file() -> None:
    """The one after the last is begun."""
    if waits := _watched.get():
        waits.file += 1


def far(kind: str, done: int, of: int) -> None:
    """So much of it is done; nothing happens where nobody waits."""
    if waits := _watched.get():
        waits.note(kind, done, of)


class Rows(Protocol):
    """Rows whose number is known before they are made."""

    def __len__(self) -> int: ...

    def __iter__(self) -> Iterator[Any]: ...


def counted(rows: Rows) -> Iterator[Any]:
    """The rows, told while they are taken."""
    for number, row in enumerate(rows):
        if number % ROWS_APART == 0:
            far(ROWS, number, len(rows))
        yield row
    far(ROWS, len(rows), len(rows))


def noted(*, company_id: UUID, user_id: Any, upload_id: UUID) -> dict[str, Any]:
    """What was told last; nothing where there is nothing to tell, or while it is written anew."""
    try:
        with default_storage.open(place(company_id, user_id, upload_id)) as file:
            return json.loads(file.read())
    except (FileNotFoundError, ValueError):
        return {}


def place(company_id: UUID, user_id: Any, upload_id: UUID) -> str:
    return f"{FOLDER}/{company_id}.{user_id}.{upload_id}.json"


def forget(name: str) -> None:
    with suppress(FileNotFoundError):
        default_storage.delete(name)
