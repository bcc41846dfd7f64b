"""A table's rows as items of an import, in the form that imports take; and its errors told by line."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import msgspec
from django.utils.translation import gettext as _

from companies.errors import TooLarge, Unsupported
from companies.locales import current
from companies.pages.downloads import as_it_was
from ledger.bulk.bodies import Fault
from ledger.calc.tables import Line, NotATable, lines_of, opened
from ledger.importing.bodies import MOST_ITEMS, Item, Request, read_item
from ledger.importing.calc.columns import Columns, names_of
from ledger.importing.calc.written import Unreadable, negated, read_amount, read_date

LINES_BESIDE = 1000  # headings, and what banks write above them
ZIPPED = b"PK\x03\x04"  # how a workbook of a spreadsheet begins
WIRE = {"from_to": "fromTo", "description": "description", "external_id": "externalId", "notes": "notes"}
FIELD_OF = {"date": "date", "fromTo": "from_to", "amountCurrency": "currency", "externalId": "external_id"}


class UnreadableTable(Unsupported):
    """The file is no text in columns."""

    code = "unreadable_table"


class TooManyRows(TooLarge):
    """The file has more rows than one import takes; split it."""

    code = "too_many_rows"


@dataclass(frozen=True, slots=True)
class BadRow:
    """A row that cannot be stored: where it stands, what is written there, and why not."""

    line: int
    column: str
    text: str
    reason: str


def table_of(content: bytes) -> list[Line]:
    """The lines of an uploaded file. Raises UnreadableTable, TooManyRows."""
    text = None if content.startswith(ZIPPED) else opened(content)
    if content.startswith(ZIPPED):
        detail = _("This is a workbook, not a CSV file. Save it as CSV in your spreadsheet and upload that.")
        raise UnreadableTable(detail)
    if text is None:
        raise UnreadableTable(_("This is no text file: neither UTF-8 nor UTF-16 nor Windows-1252."))
    try:
        lines = lines_of(text, most=MOST_ITEMS + LINES_BESIDE + 1)
    except NotATable as error:
        raise UnreadableTable(told(error)) from None
    if not any(len(line.cells) > 1 for line in lines):
        raise UnreadableTable(_("No columns were found. A CSV file separates them by commas, semicolons or tabs."))
    if len(lines) > MOST_ITEMS + LINES_BESIDE:
        raise TooManyRows(_("More than {most} rows. Split the file.").format(most=current().number(MOST_ITEMS)))
    return lines


def told(error: Any) -> str:
    """Why something cannot be read, in the language of who reads it; ``error`` is one of calc, with why and values."""
    values = {name: current().number(each) if isinstance(each, int) else each for name, each in error.values.items()}
    return _(error.why).format(**values)


class Rows:
    """The rows of a table, read by the chosen columns for one account."""

    def __init__(self, lines: Sequence[Line], columns: Columns, *, account_id: str):
        self.columns, self.account_id = columns, account_id
        self.lines = columns.rows(lines)
        self.names = names_of(lines, columns.headings)
        self.shown = names_of(lines, columns.headings, unnamed=_("Column {letters}"))
        if len(self.lines) > MOST_ITEMS:
            detail = _("{count} rows, and one import takes {most}. Split the file.")
            count, most = (current().number(each) for each in (len(self.lines), MOST_ITEMS))
            raise TooManyRows(detail.format(count=count, most=most))

    def request(self, *, dry_run: bool = False, on_error: str = "abort", duplicates: str = "skip") -> Request:
        """What to ask of ``import_transactions``: an item for each row, None and an error where it cannot be read."""
        request = Request(items=[], dry_run=dry_run, on_error=on_error, duplicates=duplicates)
        for index, line in enumerate(self.lines):
            request.items.append(self.item(line, f"#/transactions/{index}", request))
        return request

    def item(self, line: Line, pointer: str, request: Request) -> Item | None:
        cells = line.cells
        wrong, values = self.values(cells)
        if wrong:
            request.errors += [(f"{pointer}/{name}", "invalid_value", reason) for name, reason in wrong]
            return None
        if not any("\0" in cell for cell in cells):
            try:
                return msgspec.convert(values, Item)
            except msgspec.ValidationError:
                pass  # told field by field below
        return read_item(values, pointer, request)

    def values(self, cells: list[str]) -> tuple[list[tuple[str, str]], dict[str, Any]]:
        """(what is wrong, by the wire's names; the item as it would be sent)."""
        wrong: list[tuple[str, str]] = []
        if any(cells[len(self.names) :]) or len(cells) <= self.columns.last:
            detail = _("The row has {count} columns, the table {columns}.")
            return [("row", detail.format(count=len(cells), columns=len(self.names)))], {}
        values: dict[str, Any] = {"accountId": self.account_id}
        for name, read in (("date", self.date), ("amountValue", self.amount)):
            try:
                values[name] = read(cells)
            except Unreadable as error:
                wrong.append((name, told(error)))
        values |= {wire: as_it_was(text) for name, wire in WIRE.items() if (text := self.cell(cells, name))}
        if currency := self.cell(cells, "currency"):
            values["amountCurrency"] = currency.upper()
        return wrong, values

    def date(self, cells: list[str]) -> str:
        text = self.cell(cells, "date")
        if not text:
            raise Unreadable("The date is missing.")
        return read_date(text, self.columns.date_order).isoformat()

    def amount(self, cells: list[str]) -> str:
        amount = self.written_amount(cells)
        return negated(amount) if self.columns.flip_sign else amount

    def written_amount(self, cells: list[str]) -> str:
        """The amount as the row has it: of its one column, or of the one of debit and credit that is filled."""
        sign = self.columns.decimal_sign
        if "amount" in self.columns.places:
            return read_amount(self.needed(self.cell(cells, "amount")), sign)
        out, came = self.cell(cells, "debit"), self.cell(cells, "credit")
        spent = read_amount(out, sign) if out else "0"
        got = read_amount(came, sign) if came else "0"
        if spent.strip("-0.") and got.strip("-0."):
            raise Unreadable("Both the debit and the credit column are filled.")
        self.needed(out or came)
        return got if got.strip("-0.") or not out else negated(spent.removeprefix("-"))

    def needed(self, text: str) -> str:
        if not text:
            raise Unreadable("The amount is missing.")
        return text

    def cell(self, cells: list[str], name: str) -> str:
        """What the row says in a field's column; nothing where it has none."""
        place = self.columns.places.get(name)
        return cells[place] if place is not None and place < len(cells) else ""

    def bad_rows(self, errors: Sequence[Fault]) -> list[BadRow]:
        """The errors of an import as people read them."""
        return [self.bad_row(*pointer.split("/", 3)[2:], reason=reason) for pointer, _, reason in errors]

    def bad_row(self, index: str, name: str = "row", *, reason: str) -> BadRow:
        line = self.lines[int(index)]
        cells = line.cells
        if name == "amountValue":
            fields = [each for each in ("amount", "debit", "credit") if self.cell(cells, each)]
            fields = fields or [each for each in ("amount", "debit") if each in self.columns.places]
        else:
            fields = [FIELD_OF.get(name, name)]
        place = next((self.columns.places[each] for each in fields if each in self.columns.places), None)
        column = self.shown[place] if place is not None else _("the whole row")
        text = self.cell(cells, fields[0]) if place is not None else " · ".join(filter(None, cells))
        return BadRow(line.number, column, text.replace("\0", "␀")[:80], reason)
