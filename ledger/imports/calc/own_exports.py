"""Recognize our own exports by their headings, in any language. No database."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ledger.calc.delimited_text import Line
from ledger.imports.calc.amounts import DecimalMark
from ledger.imports.calc.dates import DateOrder, find_bank_date
from ledger.transactions.fields import TRANSACTION_TEXTS

SAMPLE_ROWS = 200  # rows that tell whether a spreadsheet has saved the file in its own way
FIELDS_OF_EXPORT = {
    "date": "date",
    "from_to": "counterparty",
    "description": "description",
    "amount": "amount",
    "currency": "currency",
    **{text.column: text.name for text in TRANSACTION_TEXTS},
    "external_id": "reference",
    "account": "account",
}
NEWER_COLUMNS = frozenset(["tax"])  # missing in exports of earlier releases


def find_export_header(lines: Sequence[Line], headers: Iterable[Mapping[str, str]]) -> Mapping[str, str] | None:
    """Return the heading by field if the table is our own export. ``headers`` has one for each language."""
    first_row = set(lines[0].cells) if lines else set()
    return next((header for header in headers if first_row.issuperset(list_required_headings(header))), None)


def list_required_headings(header: Mapping[str, str]) -> list[str]:
    """Return the headings that our exports of any release have."""
    return [heading for name, heading in header.items() if name not in NEWER_COLUMNS]


def build_export_settings(lines: Sequence[Line], headers: Iterable[Mapping[str, str]]) -> dict[str, Any] | None:
    """Return the settings by which our own export is read, whatever was kept for other files; None for other tables.

    Its last column is our id, not the bank's. A spreadsheet may have changed the format of dates and amounts.
    """
    header = find_export_header(lines, headers)
    if header is None:
        return None
    first_row = lines[0].cells
    columns: dict[str, Any] = {
        FIELDS_OF_EXPORT[name]: first_row.index(header[name]) for name in FIELDS_OF_EXPORT if name in header
    }
    columns |= {"status": None, "fee": None, "direction": None}
    date_position = columns["date"]
    date_texts = [
        cells[date_position] for line in lines[1 : SAMPLE_ROWS + 1] if date_position < len(cells := line.cells)
    ]
    settings = {"columns": columns, "skipAbove": 0, "flipSign": False}
    if all(find_bank_date(text, DateOrder.ISO) for text in date_texts):
        settings |= {"dateOrder": "iso", "decimalMark": find_decimal_mark(lines, columns["amount"]).value}
    return settings


def find_decimal_mark(lines: Sequence[Line], position: int) -> DecimalMark:
    """Return the decimal mark of a column of our own export, whose amounts have no groups."""
    has_comma = any("," in cells[position] for line in lines[1:] if position < len(cells := line.cells))
    return DecimalMark.COMMA if has_comma else DecimalMark.POINT
