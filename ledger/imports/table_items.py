"""Rows of a table as items of an import, and errors by line."""

from array import array
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import msgspec
from django.utils.translation import gettext as _

from companies.errors import DomainError
from companies.locales import get_current_locale
from companies.pages.csv_escaping import restore_escaped_text
from ledger.bulk.request_bodies import DECIMALS_BY_CURRENCY, Fault
from ledger.calc.delimited_text import Line, Lines, MalformedTable, TableLimit, open_text, read_delimited_lines
from ledger.calc.zip_files import OLE_SIGNATURE, ZIP_BEGINS
from ledger.files.content_type import UnsafeXml
from ledger.imports.calc.amounts import format_stored_amount, trim_trailing_zeros
from ledger.imports.calc.column_mapping import ColumnMapping, fold_setting_value
from ledger.imports.calc.columns import format_column_letters
from ledger.imports.calc.dates import find_bank_date
from ledger.imports.calc.descriptions import join_description
from ledger.imports.calc.detection import detect_mapping
from ledger.imports.calc.detection_result import AccountFacts, Detection, MappingQuestion
from ledger.imports.calc.movements import LeftOutRow, Movement
from ledger.imports.calc.other_party import find_counterparty
from ledger.imports.calc.running_balance import BalanceFault, RunningBalanceCheck, TableBalances
from ledger.imports.calc.table import Table, is_last_row_cut
from ledger.imports.calc.table_rows import RowReader
from ledger.imports.calc.unique_ids import is_unique_id_heading
from ledger.imports.calc.workbook_parts import TooManyCells, UnsafeWorkbook
from ledger.imports.calc.workbook_reader import (
    NoResult,
    SeveralTables,
    read_workbook_lines,
)
from ledger.imports.file_errors import (
    SeveralSheets,
    TableTooLarge,
    TooManyRows,
    UnreadableCell,
    UnreadableTable,
)
from ledger.imports.import_body import (
    MAX_IMPORT_ITEMS,
    TransactionImportItem,
    TransactionImportRequest,
    read_import_item,
)
from ledger.imports.queries.account_balances import find_balance_before
from ledger.imports.queries.account_numbers import list_numbered_accounts
from ledger.imports.queries.category_names import find_category_ids
from ledger.models import Account, AccountType
from ledger.transactions.fields import OTHER_TEXTS

MAX_LINES_ABOVE_TABLE = 1000  # headings, and what banks write above them
WIRE_NAMES = {"counterparty": "fromTo", "reference": "externalId"}
FIELD_BY_WIRE_NAME = {
    "date": "date",
    "fromTo": "counterparty",
    "amountCurrency": "currency",
    "externalId": "reference",
    "amountValue": "amount",
}
ERROR_BY_FAULT: dict[type[MalformedTable], type[DomainError]] = {
    TableLimit: TableTooLarge,
    TooManyCells: TooManyRows,
    SeveralTables: SeveralSheets,
    NoResult: UnreadableCell,
}
EXAMPLE_ROWS = 2  # rows that show what an answer means


class FileImportItem(TransactionImportItem, gc=False, rename="camel"):
    """A row of a file as imports store it."""

    bank_reference: str | None = None


@dataclass(frozen=True, slots=True)
class BadRow:
    """A row that cannot be stored: its line, its text, and why not."""

    line: int
    column: str
    text: str
    reason: str


def read_uploaded_table(content: bytes, settings: Any = None) -> Lines:
    """The lines of an uploaded file. ``settings`` may name its encoding and separator.

    Raises UnreadableTable, TooManyRows, TableTooLarge, SeveralSheets, UnsafeXml.
    """
    reader_settings = settings if isinstance(settings, dict) else {}
    try:
        lines = read_table_lines(content, reader_settings)
    except UnsafeWorkbook:
        raise UnsafeXml from None
    except MalformedTable as error:
        raise ERROR_BY_FAULT.get(type(error), UnreadableTable)(describe_reader_error(error)) from None
    if not any(len(line.cells) > 1 for line in lines):
        raise UnreadableTable(_("No columns found. Separate CSV columns with commas, semicolons or tabs."))
    if len(lines) > MAX_IMPORT_ITEMS + MAX_LINES_ABOVE_TABLE:
        raise TooManyRows(
            _("The file has more than {most} rows. Split it.").format(
                most=get_current_locale().format_number(MAX_IMPORT_ITEMS)
            )
        )
    return lines


def read_table_lines(content: bytes, settings: dict[str, Any]) -> Lines:
    """The lines of text or of a workbook, one more than an import takes. Raises UnreadableTable, NotATable."""
    max_lines = MAX_IMPORT_ITEMS + MAX_LINES_ABOVE_TABLE + 1
    if content.startswith(OLE_SIGNATURE):
        raise UnreadableTable(_("Save the workbook as .xlsx without a password."))
    if content.startswith(ZIP_BEGINS):
        return read_workbook_lines(content, max_lines=max_lines)
    text = open_text(content, settings.get("encoding"))
    if text is None and settings.get("encoding"):
        raise UnreadableCell(_("The file is not in the encoding {name}.").format(name=settings["encoding"]))
    if text is None:
        raise UnreadableTable(_("The file is not text in UTF-8, UTF-16 or Windows-1252."))
    lines = read_delimited_lines(text, max_lines=max_lines, separator=settings.get("separator"))
    if not content.rstrip(b"\0").endswith((b"\n", b"\r")) and is_last_row_cut(lines):
        detail = _("Line {line} ends before its last column: the file is not complete. Download it again.")
        raise UnreadableCell(detail.format(line=lines[-1].number))
    return lines


def describe_reader_error(error: Any) -> str:
    """Return the translated message of a reader's error, which has ``message`` and ``values``."""
    values = {
        name: get_current_locale().format_number(value) if isinstance(value, int) else value
        for name, value in error.values.items()
    }
    return _(error.message).format(**values)


def get_account_facts(account: Account | None) -> AccountFacts:
    """Return what a detection knows about the account that a file goes to."""
    if account is None:
        return AccountFacts()
    is_card_account = account.type == AccountType.CREDIT_CARD
    numbers = tuple(each.account_number or "" for each in list_numbered_accounts(account.company_id))
    find_balance = partial(find_balance_before, account)
    return AccountFacts(account.default_currency, is_card_account, account.account_number or "", numbers, find_balance)


def detect_account_mapping(account: Account | None, lines: Sequence[Line], settings: Any) -> Detection:
    """Detect how a file is read for an account, with given or kept settings."""
    return detect_mapping(lines, settings=settings, account=get_account_facts(account))


MAX_COMPARED_ROWS = 200  # rows in which options are compared


def build_example_rows(
    table: Table, question: MappingQuestion, currency: str, count: int = EXAMPLE_ROWS
) -> list[list[dict[str, Any]]]:
    """Return for each option the same rows as they would be stored; rows in which the options differ most come
    first.
    """
    lines = table.rows[:MAX_COMPARED_ROWS]
    rows_by_option = []
    for option in question.options:
        reader = RowReader(replace(table, rows=lines), option.mapping, currency)
        rows = zip(lines, reader.read_rows(lines), strict=True)
        rows_by_option.append([build_stored_row(reader, line, row) for line, row in rows])
    chosen_positions: list[int] = []
    storable_positions = [
        position for position in range(len(lines)) if any(rows[position]["stored"] for rows in rows_by_option)
    ]
    while len(chosen_positions) < min(count, len(storable_positions)):
        remaining = [position for position in storable_positions if position not in chosen_positions]
        chosen_positions.append(
            max(remaining, key=lambda position: count_distinct_options(rows_by_option, [*chosen_positions, position]))
        )
    return [[rows[position] for position in sorted(chosen_positions)] for rows in rows_by_option]


def count_distinct_options(rows_by_option: Sequence[Sequence[dict[str, Any]]], positions: Sequence[int]) -> int:
    """Return how many options these rows tell apart."""
    return len({tuple(str(rows[position]) for position in positions) for rows in rows_by_option})


def build_stored_row(reader: RowReader, line: Line, row: Any) -> dict[str, Any]:
    """Return a row as one option would store it."""
    amount = row.amount if isinstance(row, Movement) else ""
    texts = {
        "fromTo": find_counterparty(reader.table.names, reader.mapping, line.cells, amount),
        "description": join_description(reader.table, reader.mapping, line.cells),
    }
    if isinstance(row, Movement):
        currency = row.currency or reader.own_currency
        amount = format_stored_amount(row.amount, DECIMALS_BY_CURRENCY.get(currency, 2))
        return {
            "stored": True,
            "date": row.day.isoformat(),
            "amountValue": amount,
            "amountCurrency": currency,
            "pending": row.pending,
            **texts,
        }
    return {"stored": False, "date": None, "amountValue": None, "amountCurrency": None, "pending": False, **texts}


class TableItems:
    """The rows of a table, read by one mapping for one account; ``left_out`` has those that are no transactions."""

    def __init__(self, table: Table, mapping: ColumnMapping, *, account: Account):
        self.table, self.mapping, self.account_id = table, mapping, str(account.id)
        self.currency = currency = account.default_currency
        self.category_ids = find_category_ids(account.company_id) if "category" in mapping.columns else {}
        self.reader = RowReader(table, mapping, currency)
        self.positions: array[int] = array("Q")  # of the items in the rows of the table
        self.left_out: list[LeftOutRow] = []
        self.balance_check = RunningBalanceCheck()
        self.has_bad_row = False  # whether a row cannot be read
        self.names = [name or format_column_letters(position) for position, name in enumerate(table.names)]
        self.column_labels = [
            name or _("Column {letters}").format(letters=format_column_letters(position))
            for position, name in enumerate(table.names)
        ]
        if len(table.rows) > MAX_IMPORT_ITEMS:
            detail = _("The file has {count} rows. The limit is {most}. Split it.")
            count, most = (get_current_locale().format_number(each) for each in (len(table.rows), MAX_IMPORT_ITEMS))
            raise TooManyRows(detail.format(count=count, most=most))

    def build_request(
        self, *, dry_run: bool = False, on_error: str = "abort", duplicates: str = "skip", closed: str = "refuse"
    ) -> TransactionImportRequest:
        """Return the request of ``import_transactions``: an item for each row, None and an error where it cannot be
        read.
        """
        request = TransactionImportRequest(
            items=[],
            dry_run=dry_run,
            on_error=on_error,
            duplicates=duplicates,
            closed=closed,
            trust_external_ids=False,
        )
        request.format, request.has_unique_ids = "csv", self.has_unique_ids
        request.items.extend(self.read_items(request))
        request.balances = self.balances
        return request

    def read_items(self, request: TransactionImportRequest) -> Iterator[TransactionImportItem | None]:
        """Yield the items one by one, and add errors to ``request``."""
        self.positions, self.left_out = array("Q"), []
        self.balance_check, self.has_bad_row = RunningBalanceCheck(), False
        for position, (line, row) in enumerate(zip(self.table.rows, self.reader.read_rows(), strict=True)):
            if isinstance(row, LeftOutRow):
                self.left_out.append(row)
                continue
            pointer = f"#/transactions/{len(self.positions)}"
            self.positions.append(position)
            if isinstance(row, Movement):
                self.balance_check.add(row)
                yield self.build_item(line, row, pointer, request)
            else:
                self.has_bad_row = True
                request.errors.append((f"{pointer}/{row.field}", "invalid_value", describe_reader_error(row.error)))
                yield None

    def build_item(
        self, line: Line, row: Movement, pointer: str, request: TransactionImportRequest
    ) -> TransactionImportItem | None:
        cells = line.cells
        values = self.build_item_values(cells, row)
        if not any("\0" in cell for cell in cells):
            try:
                return msgspec.convert(values, FileImportItem)
            except msgspec.ValidationError:
                pass  # told field by field below
        item = read_import_item(values, pointer, request)
        return None if item is None else msgspec.convert(msgspec.to_builtins(item), FileImportItem)

    def build_item_values(self, cells: Sequence[str], row: Movement) -> dict[str, Any]:
        """Return the item as it would be sent."""
        currency = row.currency or self.currency
        values: dict[str, Any] = {
            "accountId": self.account_id,
            "date": row.day.isoformat(),
            "amountValue": trim_trailing_zeros(row.amount, DECIMALS_BY_CURRENCY.get(currency, 2)),
        }
        if row.currency:
            values["amountCurrency"] = row.currency
        if row.pending:
            values["pending"] = True
        values |= {
            wire: restore_escaped_text(str(text))
            for name, wire in WIRE_NAMES.items()
            if (text := self.find_text(name, cells, row))
        }
        if text := join_description(self.table, self.mapping, cells) or (
            "" if "fromTo" in values else self.reader.get_cell(cells, "notes")
        ):
            values["description"] = restore_escaped_text(text)  # rows that say nothing else differ by their notes
        if category_id := self.find_category_id(cells, row):
            values["categoryId"] = category_id
        if notes := self.build_notes(cells, row):
            values["notes"] = restore_escaped_text(notes)
        cells_by_name = {text.name: self.reader.get_cell(cells, text.name) for text in OTHER_TEXTS}
        return values | {name: restore_escaped_text(cell) for name, cell in cells_by_name.items() if cell}

    def find_text(self, name: str, cells: Sequence[str], row: Movement) -> str:
        if name == "counterparty":
            return find_counterparty(self.table.names, self.mapping, cells, row.amount)
        return self.reader.get_cell(cells, name)

    def find_category_id(self, cells: Sequence[str], row: Movement) -> str | None:
        """The category that a row names, where the company has one of that name; an amount of zero has none."""
        if not self.category_ids or not row.amount.strip("-0."):
            return None
        return self.category_ids.get(fold_setting_value(self.reader.get_cell(cells, "category")))

    def build_notes(self, cells: Sequence[str], row: Movement) -> str:
        """Return what has no field of its own, one per line."""
        parts = [self.reader.get_cell(cells, "notes")]
        value_date_text = self.reader.get_cell(cells, "valueDate")
        if value_date_text:
            parts.append(self.format_value_date(value_date_text, row))
        if text := self.reader.get_cell(cells, "counterpartyAccount"):
            parts.append(f"Account {text}")
        if (text := self.reader.get_cell(cells, "category")) and not self.find_category_id(cells, row):
            parts.append(f"Category {text}")
        return "\n".join(filter(None, parts))

    def format_value_date(self, text: str, row: Movement) -> str:
        """Return the value date if it is another day, worded as in statements."""
        day = find_bank_date(text, self.mapping.date_order)
        return f"Value date {day}" if day and day != row.day else ""

    @property
    def has_unique_ids(self) -> bool:
        """Whether the references are ids of single rows."""
        position = self.mapping.columns.get("reference")
        return position is not None and is_unique_id_heading(self.table.names[position])

    @property
    def balances(self) -> TableBalances | None:
        """The balances before and after all rows, if all are stored and every step agrees; else None."""
        return self.balance_check.find_balances() if self.can_check_balances else None

    @property
    def balance_fault(self) -> BalanceFault | None:
        """Where the balance column does not agree with rows that are all stored."""
        return self.balance_check.find_fault() if self.can_check_balances else None

    @property
    def can_check_balances(self) -> bool:
        """Whether there is a balance column of which no row is left out."""
        if not {"balance", "balanceBefore"} & self.mapping.columns.keys() or any(
            row.reason == "status" for row in self.left_out
        ):
            return False
        return not self.has_bad_row and not self.balance_check.currencies - {"", self.currency}

    @property
    def left_out_counts(self) -> dict[str, int]:
        """The number of skipped rows by reason."""
        return dict(Counter(row.reason for row in self.left_out))

    def list_bad_rows(self, errors: Sequence[Fault]) -> list[BadRow]:
        """Return the errors of an import for people."""
        return [self.build_bad_row(*pointer.split("/", 3)[2:], reason=reason) for pointer, _, reason in errors]

    def get_line(self, index: int) -> Line:
        """The line of an item; -1 is the last one."""
        return self.table.rows[self.positions[index]]

    def build_bad_row(self, index: str, name: str = "row", *, reason: str) -> BadRow:
        line = self.get_line(int(index))
        cells = line.cells
        columns = self.mapping.columns
        name = FIELD_BY_WIRE_NAME.get(name, name)
        if name == "amount":
            fields = [
                field_name for field_name in ("amount", "debit", "credit") if self.reader.get_cell(cells, field_name)
            ]
            fields = fields or [field_name for field_name in ("amount", "debit") if field_name in columns]
        else:
            fields = [name]
        position = next((columns[field_name] for field_name in fields if field_name in columns), None)
        if name == "description" and self.mapping.description:
            position = self.mapping.description[0]
        column = self.column_labels[position] if position is not None else _("entire row")
        text = (
            (cells[position] if position < len(cells) else "")
            if position is not None
            else " · ".join(filter(None, cells))
        )
        return BadRow(line.number, column, text.replace("\0", "␀")[:80], reason)
