"""Read open invoices from a table: columns by heading, and each row as an invoice or with what is wrong with it."""

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal

from ledger.calc.delimited_text import Line
from ledger.imports.calc.amounts import DecimalMark
from ledger.imports.calc.dates import DateOrder, find_date_orders
from ledger.imports.calc.headings import fold_heading
from ledger.imports.calc.named_columns import (
    NamedColumns,
    NamedRowReader,
    NamedTable,
    RowFault,
    find_amount,
    find_distinct_decimal_marks,
    find_named_table,
)
from planning.invoices.calc.invoice_headings import (
    FIELDS_BY_HEADING,
    LEFT_OUT_STATUSES,
    OPEN_STATUSES,
    PART_PAID_STATUSES,
)
from planning.planned_transactions.fields import INVOICE_TEXTS

REQUIRED_FIELDS = ("invoiceNumber", "counterparty", "invoiceDate")
AMOUNT_FIELDS = ("openAmount", "amount")
DATE_FIELDS = ("invoiceDate", "dueDate")
MAX_LENGTHS = {"invoiceNumber": 200, "counterparty": 300, "name": 300, "reference": 200}
MAX_TERMS = 999  # days


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
    texts: Mapping[str, str] = field(default_factory=dict)  # column → text of INVOICE_TEXTS


@dataclass(slots=True)
class InvoiceRows:
    """What a table says: its invoices, how many rows have nothing open, and what is wrong."""

    invoices: list[TableInvoice] = field(default_factory=list)
    settled_count: int = 0
    faults: list[RowFault] = field(default_factory=list)


class InvoiceTable(NamedTable):
    """A table of invoices."""

    __slots__ = ()

    @property
    def missing(self) -> list[str]:
        """The fields without a column that every table needs."""
        missing = [name for name in REQUIRED_FIELDS if name not in self.columns]
        return missing if self.amount_field else [*missing, "amount"]

    @property
    def amount_field(self) -> str | None:
        """The field with what is owed: the open amount where the table has it."""
        return find_invoice_amount_field(self.columns)

    @property
    def repeated_headings(self) -> list[str]:
        """Headings that several columns have and that name a field."""
        return self.list_repeated_headings(FIELDS_BY_HEADING)

    def find_date_orders(self) -> list[DateOrder]:
        """Return the orders of day and month in which the dates can be read."""
        return find_date_orders(self.list_texts(DATE_FIELDS))

    def find_date_fault(self) -> RowFault | None:
        """Return what is wrong with the first date that contradicts one before it."""
        return self.find_contradicting_date(DATE_FIELDS)

    def find_decimal_marks(self) -> list[DecimalMark]:
        """Return the decimal marks with which the amounts can be read; one where both mean the same amounts."""
        return find_distinct_decimal_marks(self.list_amount_texts())

    def has_negative_amount(self, decimal_mark: DecimalMark) -> bool:
        """Whether an amount is below zero."""
        return any((find_amount(text, decimal_mark) or 0) < 0 for text in self.list_amount_texts())

    def list_amount_texts(self) -> list[str]:
        return self.list_texts([self.amount_field]) if self.amount_field else []


def find_invoice_amount_field(columns: NamedColumns) -> str | None:
    """Return the first field of AMOUNT_FIELDS that has a column."""
    return next((name for name in AMOUNT_FIELDS if name in columns), None)


def find_invoice_table(lines: Sequence[Line]) -> InvoiceTable:
    """Return the table below the line whose headings name the most fields; without one, all columns are missing.

    >>> lines = [Line(1, ["Open items"]), Line(2, ["Invoice", "Customer", "Date", "Total"]), Line(3, ["1", "A"])]
    >>> table = find_invoice_table(lines)
    >>> dict(table.columns.positions), table.missing, len(table.rows)
    ({'invoiceNumber': 0, 'counterparty': 1, 'invoiceDate': 2, 'amount': 3}, [], 1)
    """
    table = find_named_table(lines, FIELDS_BY_HEADING)
    return InvoiceTable(table.headings, table.columns, table.rows)


def read_invoice_rows(
    table: InvoiceTable, *, date_order: DateOrder, decimal_mark: DecimalMark, default_currency: str
) -> InvoiceRows:
    """Read every row: an invoice, one without an open amount, or faults.

    Args:
        default_currency: of amounts without one; decides what a sign such as $ means.
    """
    result = InvoiceRows()
    for position, line in enumerate(table.rows):
        reader = InvoiceRowReader(table.columns, position, line, date_order, decimal_mark, default_currency)
        invoice = reader.read()
        if reader.faults:
            result.faults += reader.faults
        elif invoice is None:
            result.settled_count += 1
        else:
            result.invoices.append(invoice)
    return result


class InvoiceRowReader(NamedRowReader):
    """Reads one row of a table of invoices."""

    def read(self) -> TableInvoice | None:
        """Return the invoice; None where nothing of it is open or something is wrong."""
        if self.is_left_out():
            return None
        amount, currency = self.read_amount(find_invoice_amount_field(self.columns) or "amount")
        if amount == 0 and not self.faults:
            return None
        number, counterparty, name, reference = (
            self.read_text(field, max_length=length, required=field in REQUIRED_FIELDS)
            for field, length in MAX_LENGTHS.items()
        )
        invoice_date, due_date = self.read_date("invoiceDate", required=True), self.read_date("dueDate")
        texts = {text.column: self.read_text(text.name, max_length=text.max_length) for text in INVOICE_TEXTS}
        terms = self.read_terms()
        if self.faults or invoice_date is None or amount is None:
            return None
        return TableInvoice(
            self.position, self.line, number, counterparty, invoice_date, due_date, terms, amount, currency, name,
            reference, texts,
        )  # fmt: skip

    def is_left_out(self) -> bool:
        """Whether the status says that nothing is owed. An open amount in a column of its own says it better."""
        status = fold_heading(self.get_cell("status"))
        if not status or "openAmount" in self.columns:
            return False
        if status in LEFT_OUT_STATUSES:
            return True
        if status in PART_PAID_STATUSES:
            self.add_fault("status", "required", "Partly paid invoices need a column with the open amount.")
        elif status not in OPEN_STATUSES:
            self.add_fault("status", "invalid_choice", "“{text}” is not a known status.", text=status[:40])
        return False

    def read_terms(self) -> int | None:
        text = self.get_cell("paymentTerms")
        if not text:
            return None
        number = fold_heading(text).split()[0] if fold_heading(text) else ""
        if not (number.isascii() and number.isdecimal()) or int(number[:6]) > MAX_TERMS:
            self.add_fault("paymentTerms", "invalid_value", "“{text}” is not a number of days.", text=text[:40])
            return None
        return int(number)
