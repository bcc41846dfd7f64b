"""Tables as files that spreadsheets open."""

import csv
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from django.http import StreamingHttpResponse

BEGINS_A_FORMULA = ("=", "+", "-", "@", "＝", "＋", "－", "＠")  # wide ones too: some spreadsheets take them for narrow
CONTROLS = ("\t", "\r", "\n")


class Echo:
    """A file that hands back what is written to it."""

    def write(self, text: str) -> str:
        return text


def csv_download(rows: Iterable[Sequence[Any]], *, name: str) -> StreamingHttpResponse:
    """A CSV file in UTF-8, sent row by row as the rows come: it may be as long as it likes."""
    answer = StreamingHttpResponse(lines(rows), content_type="text/csv; charset=utf-8")
    answer["Content-Disposition"] = f'attachment; filename="{name}"'
    return answer


def lines(rows: Iterable[Sequence[Any]]) -> Iterator[str]:
    writer = csv.writer(Echo())
    for row in rows:
        yield writer.writerow([harmless(value) if isinstance(value, str) else value for value in row])


def harmless(text: str) -> str:
    """The text with an apostrophe before it where a spreadsheet would calculate it (OWASP, "CSV Injection").

    Numbers and dates come as such and stay: a negative amount is a number, no formula.

    >>> harmless("=HYPERLINK(A1)"), harmless(" -1"), harmless("Nimbus - hosting")
    ("'=HYPERLINK(A1)", "' -1", 'Nimbus - hosting')
    """
    risky = text.startswith(CONTROLS) or text.lstrip().startswith(BEGINS_A_FORMULA)
    return f"'{text}" if risky else text
