"""Responses with a file: streamed while it is written, or written completely before the first byte is sent."""

import tempfile
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import IO, Any

from django.http import FileResponse, StreamingHttpResponse

XLSX_CONTENT_TYPE = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
JOURNAL_CONTENT_TYPE = "text/plain; charset=utf-8"
BLOCK_BYTES = 64 * 1024
TEXTS_PER_CHUNK = 100


def build_streaming_response(pieces: Iterator[bytes], *, name: str, content_type: str) -> StreamingHttpResponse:
    """Return a response that streams a file while it is written.

    Check everything that can fail before: an error in `pieces` breaks the connection, which clients see as an
    incomplete transfer.
    """
    response = StreamingHttpResponse(pieces, content_type=content_type)
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    response["X-Content-Type-Options"] = "nosniff"
    return response


def build_file_response(write: Callable[[IO[bytes]], None], *, name: str, content_type: str) -> FileResponse:
    """Write a small file completely to disk and return it; an error becomes an error response, not a partial file."""
    file = tempfile.TemporaryFile()  # noqa: SIM115 - the answer closes it
    try:
        write(file)
        file.seek(0)
    except BaseException:
        file.close()
        raise
    response: Any = FileResponse(file, as_attachment=True, filename=name, content_type=content_type)
    response.block_size = BLOCK_BYTES
    response["X-Content-Type-Options"] = "nosniff"
    return response


def encode_chunks(texts: Iterable[str]) -> Iterator[bytes]:
    """Encode texts as UTF-8, many at a time: single writes take longer than building the texts."""
    iterator = iter(texts)
    while chunk := list(islice(iterator, TEXTS_PER_CHUNK)):
        yield "".join(chunk).encode()
