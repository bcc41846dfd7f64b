"""Read open invoices from a table: columns by heading, and each row as an invoice or with what is wrong with it."""

import datetime as dt
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import NamedTuple

from ledger.calc.delimited_text import Line
from ledger.imports.calc.amounts import (
    DecimalMark,
    UnreadableValueError,
    find_decimal_marks,
    parse_bank_money,
    trim_trailing_zeros,
)
from ledger.imports.calc.currencies import find_named_currencies, get_currency_codes
from ledger.imports.calc.dates import DateOrder, find_date_orders, parse_bank_date
from ledger.imports.calc.headings import fold_heading
from ledger.money.calc.money import CURRENCIES, get_minor_units
from planning.calc.invoice_headings import FIELDS_BY_HEADING, LEFT_OUT_STATUSES, OPEN_STATUSES, PART_PAID_STATUSES

MAX_LINES_ABOVE = 20  # titles above the headings
REQUIRED_FIELDS = ("invoiceNumber", "counterparty", "invoiceDate")
AMOUNT_FIELDS = ("openAmount", "amount")
DATE_FIELDS = ("invoiceDate", "dueDate")
MAX_LENGTHS = {"invoiceNumber": 200, "counterparty": 300, "name": 300, "reference": 200}
MAX_TERMS = 999  # days


class RowFault(NamedTuple):
    """What is wrong with a row: `field` is an API name, `message` has placeholders for `values`."""

    position: int
    line: int
    field: str
    code: str
    message: str
    values: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class TableInvoice:
    """A row of the table. `amount` has the sign of the file; `currency` is None where the file states none."""

    position: int
    line: int
    number: str
    counterparty: str
    invoice_date: dt.date
    due_date: dt.date | None
    payment_terms: int | None
    amount: Decimal
    currency: str | None
    name: str
    reference: str


@dataclass(frozen=True, slots=True)
class InvoiceColumns:
    """Which columns a table has: field → position. `currency` is that of the heading of its amounts."""

    positions: Mapping[str, int]
    currency: str | None = None

    @property
    def missing(self) -> list[str]:
        """The fields without a column that every table needs."""
        missing = [name for name in REQUIRED_FIELDS if name not in self.positions]
        return missing if self.amount_field else [*missing, "amount"]

    @property
    def amount_field(self) -> str | None:
        """The field with what is owed: the open amount where the table has it."""
        return next((name for name in AMOUNT_FIELDS if name in self.positions), None)

    def get_cell(self, cells: Sequence[str], name: str) -> str:
        position = self.positions.get(name)
        return cells[position] if position is not None and position < len(cells) else ""


@dataclass(slots=True)
class InvoiceRows:
    """What a table says: its invoices, how many rows have nothing open, and what is wrong."""

    invoices: list[TableInvoice] = field(default_factory=list)
    settled: int = 0
    faults: list[RowFault] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class InvoiceTable:
    """A table of invoices: its columns, and the rows below its headings."""

    headings: Sequence[str]
    columns: InvoiceColumns
    rows: Sequence[Line]

    @property
    def repeated_headings(self) -> list[str]:
        """Headings that several columns have and that name a field."""
        names = {fold_heading(heading): heading for heading in self.headings}
        counts = Counter(map(fold_heading, self.headings))
        return [names[text] for text, count in counts.items() if count > 1 and text in FIELDS_BY_HEADING]

    def list_texts(self, fields: Iterable[str]) -> list[str]:
        """Return what stands in columns, without empty cells."""
        names = list(fields)
        return [text for line in self.rows for name in names if (text := self.columns.get_cell(line.cells, name))]

    def find_date_orders(self) -> list[DateOrder]:
        """Return the orders of day and month in which the dates can be read."""
        return find_date_orders(self.list_texts(DATE_FIELDS))

    def find_decimal_marks(self) -> list[DecimalMark]:
        """Return the decimal marks with which the amounts can be read; one where both mean the same amounts."""
        amount_field = self.columns.amount_field
        texts = self.list_texts([amount_field]) if amount_field else []
        marks = list(find_decimal_marks(texts))
        if len(marks) < 2 or any(find_amount(text, marks[0]) != find_amount(text, marks[1]) for text in texts):
            return marks
        return marks[:1]

    def has_negative_amount(self, mark: DecimalMark) -> bool:
        """Whether an amount is below zero."""
        amount_field = self.columns.amount_field
        texts = self.list_texts([amount_field]) if amount_field else []
        return any((find_amount(text, mark) or 0) < 0 for text in texts)


def find_invoice_table(lines: Sequence[Line]) -> InvoiceTable:
    """Return the table below the line whose headings name the most fields; without one, all columns are missing.

    >>> lines = [Line(1, ["Open items"]), Line(2, ["Invoice", "Customer", "Date", "Total"]), Line(3, ["1", "A"])]
    >>> table = find_invoice_table(lines)
    >>> dict(table.columns.positions), table.columns.missing, len(table.rows)
    ({'invoiceNumber': 0, 'counterparty': 1, 'invoiceDate': 2, 'amount': 3}, [], 1)
    """
    candidates = [(find_invoice_columns(line.cells), position) for position, line in enumerate(lines[:MAX_LINES_ABOVE])]
    if not candidates:
        return InvoiceTable([], InvoiceColumns({}), [])
    columns, position = max(candidates, key=lambda each: (len(each[0].positions), -each[1]))
    return InvoiceTable(lines[position].cells, columns, lines[position + 1 :])


def find_invoice_columns(headings: Sequence[str]) -> InvoiceColumns:
    """Return the columns that headings name. Of several for one field the most specific heading counts."""
    ranked: dict[str, tuple[int, int]] = {}  # field → (rank of the heading, position)
    currencies: dict[int, str] = {}
    for position, heading in enumerate(headings):
        words = fold_heading(heading).split()
        codes = [word.upper() for word in words if word.upper() in get_currency_codes()]
        text = (
            " ".join(word for word in words if word.upper() not in get_currency_codes()) if len(words) > 1 else heading
        )
        if (known := FIELDS_BY_HEADING.get(fold_heading(text))) is None:
            continue
        name, rank = known
        if name not in ranked or rank < ranked[name][0]:
            ranked[name] = rank, position
        if codes:
            currencies[position] = codes[0]
    columns = InvoiceColumns({name: position for name, (_rank, position) in ranked.items()})
    amount_field = columns.amount_field
    stated = currencies.get(columns.positions[amount_field]) if amount_field else None
    return InvoiceColumns(columns.positions, stated)


def read_invoice_rows(
    table: InvoiceTable, *, date_order: DateOrder, decimal_mark: DecimalMark, default_currency: str
) -> InvoiceRows:
    """Read every row: an invoice, one without an open amount, or faults.

    Args:
        default_currency: of amounts without one; decides what a sign such as $ means.
    """
    result = InvoiceRows()
    for position, line in enumerate(table.rows):
        reader = RowReader(table.columns, position, line, date_order, decimal_mark, default_currency)
        invoice = reader.read()
        if reader.faults:
            result.faults += reader.faults
        elif invoice is None:
            result.settled += 1
        else:
            result.invoices.append(invoice)
    return result


class RowReader:
    """Reads one row and collects what is wrong with it."""

    def __init__(
        self,
        columns: InvoiceColumns,
        position: int,
        line: Line,
        date_order: DateOrder,
        decimal_mark: DecimalMark,
        default_currency: str,
    ):
        self.columns, self.position, self.line = columns, position, line.number
        self.cells = line.cells
        self.date_order, self.decimal_mark, self.default_currency = date_order, decimal_mark, default_currency
        self.faults: list[RowFault] = []

    def read(self) -> TableInvoice | None:
        """Return the invoice; None where nothing of it is open or something is wrong."""
        if self.is_left_out():
            return None
        amount, currency = self.read_amount()
        if amount == 0 and not self.faults:
            return None
        number, counterparty = self.read_text("invoiceNumber"), self.read_text("counterparty")
        name, reference = self.read_text("name"), self.read_text("reference")
        invoice_date, due_date = self.read_date("invoiceDate"), self.read_date("dueDate")
        terms = self.read_terms()
        if self.faults or invoice_date is None or amount is None:
            return None
        return TableInvoice(
            self.position, self.line, number, counterparty, invoice_date, due_date, terms, amount, currency, name,
            reference,
        )  # fmt: skip

    def add_fault(self, name: str, code: str, message: str, **values: str) -> None:
        self.faults.append(RowFault(self.position, self.line, name, code, message, values))

    def get_cell(self, name: str) -> str:
        return self.columns.get_cell(self.cells, name)

    def is_left_out(self) -> bool:
        """Whether the status says that nothing is owed. An open amount in a column of its own says it better."""
        status = fold_heading(self.get_cell("status"))
        if not status or "openAmount" in self.columns.positions:
            return False
        if status in LEFT_OUT_STATUSES:
            return True
        if status in PART_PAID_STATUSES:
            self.add_fault("status", "required", "Of a partly paid invoice the open amount must have a column.")
        elif status not in OPEN_STATUSES:
            self.add_fault("status", "invalid_choice", "“{text}” is not a known status.", text=status[:40])
        return False

    def read_text(self, name: str) -> str:
        text = str(self.get_cell(name))
        if not text and name in REQUIRED_FIELDS:
            self.add_fault(name, "required", "This field is required.")
        if len(text) > MAX_LENGTHS[name]:
            self.add_fault(name, "too_long", "The text is too long.")
        if "\0" in text:
            self.add_fault(name, "invalid_characters", "Must not contain NUL characters.")
        return text

    def read_date(self, name: str) -> dt.date | None:
        text = self.get_cell(name)
        if not text:
            if name in REQUIRED_FIELDS:
                self.add_fault(name, "required", "This field is required.")
            return None
        try:
            return parse_bank_date(text, self.date_order)
        except UnreadableValueError as error:
            self.add_fault(name, "invalid_date", error.message, **error.values)
            return None

    def read_terms(self) -> int | None:
        text = self.get_cell("paymentTerms")
        if not text:
            return None
        number = fold_heading(text).split()[0] if fold_heading(text) else ""
        if not (number.isascii() and number.isdecimal()) or int(number[:6]) > MAX_TERMS:
            self.add_fault("paymentTerms", "invalid_value", "“{text}” is not a number of days.", text=text[:40])
            return None
        return int(number)

    def read_amount(self) -> tuple[Decimal | None, str | None]:
        """Return the amount and its currency; (None, None) where one is wrong."""
        name = self.columns.amount_field or "amount"
        text = self.get_cell(name)
        if not text:
            self.add_fault(name, "required", "This field is required.")
            return None, None
        try:
            money = parse_bank_money(text, self.decimal_mark)
        except UnreadableValueError as error:
            self.add_fault(name, "invalid_decimal", error.message, **error.values)
            return None, None
        currency = self.read_currency(money.currencies)
        if self.faults:
            return None, None
        amount = trim_trailing_zeros(money.amount, get_minor_units(currency or self.default_currency))
        if len(amount.partition(".")[2]) > get_minor_units(currency or self.default_currency):
            self.add_fault(name, "too_many_decimals", "“{text}” has too many decimals.", text=text[:40])
            return None, None
        return Decimal(amount), currency

    def read_currency(self, beside_amount: Sequence[str]) -> str | None:
        """Return the currency of the column, of the amount, or of its heading; None where none is stated."""
        text = self.get_cell("currency")
        stated = find_named_currencies(text) if text else beside_amount
        if text and beside_amount and not set(stated) & set(beside_amount):
            self.add_fault(
                "currency", "contradicts_amount", "The amount has another currency than “{text}”.", text=text[:40]
            )
        if not text and not stated:
            return self.columns.currency
        currency = self.default_currency if self.default_currency in stated else next(iter(stated), None)
        if currency not in CURRENCIES:
            self.add_fault(
                "currency", "invalid_choice", "“{text}” is not a supported currency.", text=(text or str(currency))[:40]
            )
            return None
        return currency


def find_amount(text: str, mark: DecimalMark) -> Decimal | None:
    """Return an amount; None if the text is none with this mark."""
    try:
        return Decimal(parse_bank_money(text, mark).amount)
    except UnreadableValueError:
        return None
