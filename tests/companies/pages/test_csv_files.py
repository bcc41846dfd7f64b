"""CSV files of pages: for readers in German as their Excel opens them, for others and for programs with commas."""

from datetime import date
from decimal import Decimal

import pytest

from companies.locales import get_locale, use_locale
from companies.pages.csv_files import write_csv

ROWS = [
    ["Name", "Amount"],
    ["=1;=2", Decimal("-1234.50")],
    ["", None],
    [date(2026, 1, 31), 7],
    ["1.5", Decimal("1E+3")],
]


@pytest.mark.parametrize(
    ("tag", "text"),
    [
        ("en", "Name,Amount\r\n'=1;'=2,-1234.50\r\n,\r\n2026-01-31,7\r\n1.5,1000\r\n"),
        ("fr", "Name,Amount\r\n'=1;'=2,-1234.50\r\n,\r\n2026-01-31,7\r\n1.5,1000\r\n"),  # reads the pages in English
        ("de", "\ufeffName;Amount\r\n\"'=1;'=2\";-1234,50\r\n;\r\n2026-01-31;7\r\n1.5;1000\r\n"),
        ("de-AT", "\ufeffName;Amount\r\n\"'=1;'=2\";-1234,50\r\n;\r\n2026-01-31;7\r\n1.5;1000\r\n"),
        ("de-CH", "\ufeffName;Amount\r\n\"'=1;'=2\";-1234.50\r\n;\r\n2026-01-31;7\r\n1.5;1000\r\n"),
    ],
)
def test_file_is_written_for_its_reader(tag, text):
    with use_locale(get_locale(tag)):
        assert write_csv(ROWS) == text
