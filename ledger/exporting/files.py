"""A file that is written whole before its first byte is sent: what goes wrong is a refusal and no torn file, and the
database is asked no longer than it takes, however slow somebody's line is. It lies on the disk, not in memory.
"""

import tempfile
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import IO, Any

from django.http import FileResponse

CSV = "text/csv; charset=utf-8"
XLSX = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
JOURNAL = "text/plain; charset=utf-8"
AT_ONCE = 64 * 1024
TEXTS_AT_ONCE = 100


def download(write: Callable[[IO[bytes]], None], *, name: str, kind: str) -> FileResponse:
    """What ``write`` writes, sent in pieces as a file of that name."""
    file = tempfile.TemporaryFile()  # noqa: SIM115 - the answer closes it
    try:
        write(file)
        file.seek(0)
    except BaseException:
        file.close()
        raise
    answer: Any = FileResponse(file, as_attachment=True, filename=name, content_type=kind)
    answer.block_size = AT_ONCE
    answer["X-Content-Type-Options"] = "nosniff"
    return answer


def in_pieces(texts: Iterable[str]) -> Iterator[bytes]:
    """Many at once, in UTF-8: writing each by itself takes longer than making it."""
    rest = iter(texts)
    while some := list(islice(rest, TEXTS_AT_ONCE)):
        yield "".join(some).encode()
