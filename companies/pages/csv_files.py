"""CSV files (RFC 4180): the format that programs expect, and the one of a page's download for its reader.

Excel splits columns and reads numbers by the list separator and decimal mark of its country: a German one shows a
file with commas as one column. The API's files have the same format for everybody.
"""

import codecs
import csv
import io
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import IO, Any

from django.http import HttpResponse
from django.utils.text import slugify

from companies.locales import get_current_locale
from companies.pages.csv_escaping import escape_formulas

CSV_CONTENT_TYPE = "text/csv; charset=utf-8"
BYTE_ORDER_MARK = codecs.BOM_UTF8.decode()
SEMICOLON_LANGUAGES = {"de"}


@dataclass(frozen=True, slots=True)
class CsvFormat:
    """How a CSV file is written."""

    separator: str = ","
    decimal_mark: str = "."
    has_byte_order_mark: bool = False  # without it, Excel does not read UTF-8

    def create_writer(self, file: IO[str]) -> Any:
        """Begin a file, and return the writer of its rows."""
        if self.has_byte_order_mark:
            file.write(BYTE_ORDER_MARK)
        return csv.writer(file, delimiter=self.separator)

    def format_number(self, number: Decimal | str) -> str:
        """Format a number, or the text of one with a point, without groups.

        >>> CsvFormat(";", ",").format_number(Decimal("-1234.50")), CsvFormat().format_number("0.5")
        ('-1234,50', '0.5')
        """
        text = number if isinstance(number, str) else f"{number:f}"
        return text.replace(".", self.decimal_mark)


API_CSV_FORMAT = CsvFormat()


def get_page_csv_format() -> CsvFormat:
    """Return the format of downloads from pages, by the reader's locale."""
    locale = get_current_locale()
    if locale.language not in SEMICOLON_LANGUAGES:
        return API_CSV_FORMAT
    return CsvFormat(separator=";", decimal_mark=locale.decimal, has_byte_order_mark=True)


def write_csv(rows: Iterable[Sequence[object]]) -> str:
    """Return the rows of a download from a page. Texts that a spreadsheet would run as a formula are escaped."""
    csv_format = get_page_csv_format()
    file = io.StringIO()
    writer = csv_format.create_writer(file)
    for row in rows:
        writer.writerow([format_csv_cell(cell, csv_format) for cell in row])
    return file.getvalue()


def format_csv_cell(cell: object, csv_format: CsvFormat) -> object:
    if isinstance(cell, Decimal):
        return csv_format.format_number(cell)
    return escape_formulas(cell) if isinstance(cell, str) else cell


def build_csv_response(rows: Iterable[Sequence[object]], *, name: str) -> HttpResponse:
    """Build the download of a table of a page."""
    headers = {"Content-Disposition": f'attachment; filename="{slugify(name)}.csv"'}
    return HttpResponse(write_csv(rows), content_type=CSV_CONTENT_TYPE, headers=headers)
