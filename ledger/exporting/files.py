"""Answers that are files: streamed while they are written, or written whole before the first byte is sent."""

import tempfile
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import IO, Any

from django.http import FileResponse, StreamingHttpResponse

CSV = "text/csv; charset=utf-8"
XLSX = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
JOURNAL = "text/plain; charset=utf-8"
AT_ONCE = 64 * 1024
TEXTS_AT_ONCE = 100


def stream_file(pieces: Iterator[bytes], *, name: str, kind: str) -> StreamingHttpResponse:
    """Send a file while it is written.

    Whatever may be refused must be checked before: an error in ``pieces`` breaks the connection off, which clients see
    as an incomplete transfer.
    """
    answer = StreamingHttpResponse(pieces, content_type=kind)
    answer["Content-Disposition"] = f'attachment; filename="{name}"'
    answer["X-Content-Type-Options"] = "nosniff"
    return answer


def download(write: Callable[[IO[bytes]], None], *, name: str, kind: str) -> FileResponse:
    """Write a small file whole, on the disk, and send it: what goes wrong is an error answer and no torn file."""
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
