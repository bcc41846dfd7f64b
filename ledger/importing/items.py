"""A table's rows as items of an import, in the form that imports take; and its errors told by line."""

from array import array
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import msgspec
from django.utils.translation import gettext as _

from companies.errors import Invalid, TooLarge, Unsupported
from companies.locales import current
from companies.pages.downloads import as_it_was
from ledger.bulk.bodies import DECIMALS, Fault
from ledger.calc.tables import Line, Lines, NotATable, TableLimit, lines_of, opened
from ledger.importing.bodies import MOST_ITEMS, Item, Request, read_item
from ledger.importing.calc.amounts import drop_zeros
from ledger.importing.calc.balance_run import BalanceRun, Balances
from ledger.importing.calc.dates import find_day
from ledger.importing.calc.detection import detect
from ledger.importing.calc.mapping import Mapping, fold_value
from ledger.importing.calc.movements import LeftOut, Movement
from ledger.importing.calc.questions import Detection, Own, Question
from ledger.importing.calc.rows import RowReader
from ledger.importing.calc.sheets import SHEETS_BEGIN, NoResult, SeveralTables, UnsafeWorkbook, has_sheets, sheet_lines
from ledger.importing.calc.table import Table
from ledger.importing.category_names import find_category_ids
from ledger.models import Account, AccountType

LINES_BESIDE = 1000  # headings, and what banks write above them
WIRE = {"counterparty": "fromTo", "reference": "externalId"}
FIELD_OF = {
    "date": "date",
    "fromTo": "counterparty",
    "amountCurrency": "currency",
    "externalId": "reference",
    "amountValue": "amount",
}
EXAMPLES = 2  # rows that show what an answer means


class UnreadableTable(Unsupported):
    """The file is no text in columns."""

    code = "unreadable_table"


class UnreadableCell(UnreadableTable):
    """A cell has a formula without its result: open the workbook in your spreadsheet, and save it."""


class TooManyRows(TooLarge):
    """The file has more rows than one import takes; split it."""

    code = "too_many_rows"


class TableTooLarge(TooLarge):
    """A row or a cell of the table is longer than any that is read; the detail names the limit and the line."""

    code = "table_too_large"


class SeveralSheets(Invalid):
    """Several sheets of the workbook have movements: save each as a file of its own, and send them one by one."""

    code = "several_sheets"


class UnsafeXml(Invalid):
    """The XML has a document type or entities, which no statement needs."""

    code = "unsafe_xml"


class FileItem(Item, gc=False, rename="camel"):
    """A row of a file as imports store it."""

    bank_reference: str | None = None


@dataclass(frozen=True, slots=True)
class BadRow:
    """A row that cannot be stored: where it stands, what is written there, and why not."""

    line: int
    column: str
    text: str
    reason: str


def table_of(content: bytes, settings: Any = None) -> Lines:
    """The lines of an uploaded file. ``settings`` may name its encoding and separator.

    Raises UnreadableTable, TooManyRows, TableTooLarge, SeveralSheets, UnsafeXml.
    """
    given = settings if isinstance(settings, dict) else {}
    try:
        lines = read_table_lines(content, given)
    except TableLimit as error:
        raise TableTooLarge(told(error)) from None
    except SeveralTables as error:
        raise SeveralSheets(told(error)) from None
    except NoResult as error:
        raise UnreadableCell(told(error)) from None
    except UnsafeWorkbook:
        raise UnsafeXml from None
    except NotATable as error:
        raise UnreadableTable(told(error)) from None
    if not any(len(line.cells) > 1 for line in lines):
        raise UnreadableTable(_("No columns were found. A CSV file separates them by commas, semicolons or tabs."))
    if len(lines) > MOST_ITEMS + LINES_BESIDE:
        raise TooManyRows(_("More than {most} rows. Split the file.").format(most=current().number(MOST_ITEMS)))
    return lines


def read_table_lines(content: bytes, given: dict[str, Any]) -> Lines:
    """The lines of text or of a workbook, one more than an import takes. Raises UnreadableTable, NotATable."""
    most = MOST_ITEMS + LINES_BESIDE + 1
    if content.startswith(SHEETS_BEGIN):
        return read_sheet(content, most=most)
    text = opened(content, given.get("encoding"))
    if text is None:
        raise UnreadableTable(_("This is no text file: neither UTF-8 nor UTF-16 nor Windows-1252."))
    return lines_of(text, most=most, separator=given.get("separator"))


def read_sheet(content: bytes, *, most: int) -> Lines:
    """The rows of a workbook's first sheet with a table. Raises UnreadableTable, NotATable."""
    if not has_sheets(content):
        raise UnreadableTable(_("This is an archive without a table. Unpack it, and upload the files in it."))
    return sheet_lines(content, most=most)


def told(error: Any) -> str:
    """Why something cannot be read, in the language of who reads it; ``error`` is one of calc, with why and values."""
    values = {name: current().number(each) if isinstance(each, int) else each for name, each in error.values.items()}
    return _(error.why).format(**values)


def own_of(account: Account | None) -> Own:
    """What a detection knows of the account that a file goes to."""
    if account is None:
        return Own()
    is_card = account.type == AccountType.CREDIT_CARD
    return Own(account.default_currency, is_card, account.account_number or "")


def detect_for(account: Account | None, lines: Sequence[Line], settings: Any) -> Detection:
    """How a file is read for an account, by what was given or kept."""
    return detect(lines, settings=settings, own=own_of(account))


MOST_COMPARED = 200  # rows in which options are compared


def example_rows(table: Table, question: Question, currency: str, count: int = EXAMPLES) -> list[list[dict[str, Any]]]:
    """For each option the same rows as they would be stored: those in which the options differ most come first."""
    lines = table.rows[:MOST_COMPARED]
    shown = []
    for option in question.options:
        reader = RowReader(replace(table, rows=lines), option.mapping, currency)
        rows = zip(lines, reader.read_all(lines), strict=True)
        shown.append([stored_row(reader, line, row) for line, row in rows])
    found: list[int] = []
    known = [place for place in range(len(lines)) if any(rows[place]["stored"] for rows in shown)]
    while len(found) < min(count, len(known)):
        left = [place for place in known if place not in found]
        found.append(max(left, key=lambda place: count_different(shown, [*found, place])))
    return [[rows[place] for place in sorted(found)] for rows in shown]


def count_different(shown: Sequence[Sequence[dict[str, Any]]], places: Sequence[int]) -> int:
    """How many of the options can be told apart by these rows."""
    return len({tuple(str(rows[place]) for place in places) for rows in shown})


def stored_row(reader: RowReader, line: Line, row: Any) -> dict[str, Any]:
    """A row as one option would store it, for people and programs that choose."""
    texts = {"fromTo": reader.cell(line.cells, "counterparty"), "description": description(reader.mapping, line.cells)}
    if isinstance(row, Movement):
        currency = row.currency or reader.own_currency
        amount = drop_zeros(row.amount, DECIMALS.get(currency, 2))
        return {
            "stored": True,
            "date": row.day.isoformat(),
            "amountValue": amount,
            "amountCurrency": currency,
            "pending": row.pending,
            **texts,
        }
    return {"stored": False, "date": None, "amountValue": None, "amountCurrency": None, "pending": False, **texts}


def description(mapping: Mapping, cells: Sequence[str]) -> str:
    """The texts of the description's columns, each once."""
    return " ".join(dict.fromkeys(cells[place] for place in mapping.description if place < len(cells) and cells[place]))


class Rows:
    """The rows of a table, read by one mapping for one account; those that are no movements are in ``left_out``."""

    def __init__(self, table: Table, mapping: Mapping, *, account: Account):
        self.table, self.mapping, self.account_id = table, mapping, str(account.id)
        self.currency = currency = account.default_currency
        self.category_ids = find_category_ids(account.company_id) if "category" in mapping.columns else {}
        self.reader = RowReader(table, mapping, currency)
        self.places: array[int] = array("Q")  # of the items in the rows of the table
        self.left_out: list[LeftOut] = []
        self.run = BalanceRun()
        self.bad = False  # whether a row cannot be read
        self.names = [name or letters(place) for place, name in enumerate(table.names)]
        self.shown = [
            name or _("Column {letters}").format(letters=letters(place)) for place, name in enumerate(table.names)
        ]
        if len(table.rows) > MOST_ITEMS:
            detail = _("{count} rows, and one import takes {most}. Split the file.")
            count, most = (current().number(each) for each in (len(table.rows), MOST_ITEMS))
            raise TooManyRows(detail.format(count=count, most=most))

    def request(self, *, dry_run: bool = False, on_error: str = "abort", duplicates: str = "skip") -> Request:
        """What to ask of ``import_transactions``: an item for each movement, None and an error where it cannot be
        read."""
        request = Request(items=[], dry_run=dry_run, on_error=on_error, duplicates=duplicates, trusts_ids=False)
        request.format = "csv"
        request.items.extend(self.read_items(request))
        return request

    def read_items(self, request: Request) -> Iterator[Item | None]:
        """Yield the items one by one, and add what is wrong to the errors of ``request``."""
        self.places, self.left_out, self.run, self.bad = array("Q"), [], BalanceRun(), False
        for place, (line, row) in enumerate(zip(self.table.rows, self.reader.read_all(), strict=True)):
            if isinstance(row, LeftOut):
                self.left_out.append(row)
                continue
            pointer = f"#/transactions/{len(self.places)}"
            self.places.append(place)
            if isinstance(row, Movement):
                self.run.add(row)
                yield self.item(line, row, pointer, request)
            else:
                self.bad = True
                request.errors.append((f"{pointer}/{row.field}", "invalid_value", told(row.error)))
                yield None

    def item(self, line: Line, row: Movement, pointer: str, request: Request) -> Item | None:
        cells = line.cells
        values = self.values(cells, row)
        if not any("\0" in cell for cell in cells):
            try:
                return msgspec.convert(values, FileItem)
            except msgspec.ValidationError:
                pass  # told field by field below
        item = read_item(values, pointer, request)
        return None if item is None else msgspec.convert(msgspec.to_builtins(item), FileItem)

    def values(self, cells: Sequence[str], row: Movement) -> dict[str, Any]:
        """The item as it would be sent."""
        currency = row.currency or self.currency
        values: dict[str, Any] = {
            "accountId": self.account_id,
            "date": row.day.isoformat(),
            "amountValue": drop_zeros(row.amount, DECIMALS.get(currency, 2)),
        }
        if row.currency:
            values["amountCurrency"] = row.currency
        if row.pending:
            values["pending"] = True
        values |= {wire: as_it_was(str(text)) for name, wire in WIRE.items() if (text := self.reader.cell(cells, name))}
        if text := description(self.mapping, cells):
            values["description"] = as_it_was(text)
        if category_id := self.find_category_id(cells, row):
            values["categoryId"] = category_id
        if notes := self.notes(cells, row):
            values["notes"] = as_it_was(notes)
        return values

    def find_category_id(self, cells: Sequence[str], row: Movement) -> str | None:
        """The category that a row names, where the company has one of that name; an amount of zero has none."""
        if not self.category_ids or not row.amount.strip("-0."):
            return None
        return self.category_ids.get(fold_value(self.reader.cell(cells, "category")))

    def notes(self, cells: Sequence[str], row: Movement) -> str:
        """What has no field of its own, each in a line."""
        parts = [self.reader.cell(cells, "notes")]
        valued = self.reader.cell(cells, "valueDate")
        if valued:
            parts.append(self.value_date(valued, row))
        if text := self.reader.cell(cells, "counterpartyAccount"):
            parts.append(f"Account {text}")
        if (text := self.reader.cell(cells, "category")) and not self.find_category_id(cells, row):
            parts.append(f"Category {text}")
        return "\n".join(filter(None, parts))

    def value_date(self, text: str, row: Movement) -> str:
        """The value date where it is another day, as statements tell it."""
        day = find_day(text, self.mapping.date_order)
        return f"Value date {day}" if day and day != row.day else ""

    @property
    def balances(self) -> Balances | None:
        """What the balance column says before and after all rows, where all are stored and every step agrees."""
        if not {"balance", "balanceBefore"} & self.mapping.columns.keys() or any(
            row.reason == "status" for row in self.left_out
        ):
            return None
        if self.bad or self.run.currencies - {"", self.currency}:
            return None
        return self.run.find_balances()

    @property
    def left_out_counts(self) -> dict[str, int]:
        """How many rows are no movements, by reason."""
        return dict(Counter(row.reason for row in self.left_out))

    def bad_rows(self, errors: Sequence[Fault]) -> list[BadRow]:
        """The errors of an import as people read them."""
        return [self.bad_row(*pointer.split("/", 3)[2:], reason=reason) for pointer, _, reason in errors]

    def get_line(self, index: int) -> Line:
        """The line of an item; -1 is the last one."""
        return self.table.rows[self.places[index]]

    def bad_row(self, index: str, name: str = "row", *, reason: str) -> BadRow:
        line = self.get_line(int(index))
        cells = line.cells
        columns = self.mapping.columns
        name = FIELD_OF.get(name, name)
        if name == "amount":
            fields = [each for each in ("amount", "debit", "credit") if self.reader.cell(cells, each)]
            fields = fields or [each for each in ("amount", "debit") if each in columns]
        else:
            fields = [name]
        place = next((columns[each] for each in fields if each in columns), None)
        if name == "description" and self.mapping.description:
            place = self.mapping.description[0]
        column = self.shown[place] if place is not None else _("the whole row")
        text = (cells[place] if place < len(cells) else "") if place is not None else " · ".join(filter(None, cells))
        return BadRow(line.number, column, text.replace("\0", "␀")[:80], reason)


def letters(place: int) -> str:
    """A, B, … Z, AA, AB …

    >>> letters(0), letters(25), letters(26)
    ('A', 'Z', 'AA')
    """
    found = ""
    place += 1
    while place:
        place, rest = divmod(place - 1, 26)
        found = chr(65 + rest) + found
    return found
