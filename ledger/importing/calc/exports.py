"""Our own exports that come back: known by their headings, in any language. No database."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ledger.calc.tables import Line
from ledger.importing.calc.dates import DateOrder, find_day

SAMPLE = 200  # rows that tell whether a spreadsheet has saved the file in its own way
FIELDS_OF_EXPORT = {
    "date": "date",
    "from_to": "counterparty",
    "description": "description",
    "amount": "amount",
    "currency": "currency",
    "notes": "notes",
    "external_id": "reference",
    "account": "account",
}


def names_in_export(lines: Sequence[Line], headers: Iterable[Mapping[str, str]]) -> Mapping[str, str] | None:
    """What the columns are called where the table is our own export; ``headers`` says it by field, by language."""
    heads = set(lines[0].cells) if lines else set()
    return next((header for header in headers if heads.issuperset(header.values())), None)


def of_export(lines: Sequence[Line], headers: Iterable[Mapping[str, str]]) -> dict[str, Any] | None:
    """The settings by which our own export is read, whatever was kept of other files; None for other tables.

    Its last column is our id, not the bank's. A spreadsheet may have saved it with dates and amounts of its own.
    """
    header = names_in_export(lines, headers)
    if header is None:
        return None
    heads = lines[0].cells
    columns: dict[str, Any] = {
        FIELDS_OF_EXPORT[name]: heads.index(header[name]) for name in FIELDS_OF_EXPORT if name in header
    }
    columns |= {"status": None, "fee": None, "direction": None}
    place = columns["date"]
    days = [cells[place] for line in lines[1 : SAMPLE + 1] if place < len(cells := line.cells)]
    settings = {"columns": columns, "skipAbove": 0, "flipSign": False}
    if all(find_day(text, DateOrder.ISO) for text in days):
        settings |= {"dateOrder": "iso", "decimalMark": "point"}
    return settings
