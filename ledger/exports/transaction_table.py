"""Transactions as a table for spreadsheets: one row per transaction, or one row per categorization."""

import io
import operator
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from decimal import Decimal
from itertools import groupby, islice
from typing import IO, Any

from django.core.exceptions import EmptyResultSet
from django.utils.translation import get_language, gettext, override
from django.utils.translation import gettext_lazy as _

from companies.errors import ValidationFailed
from companies.models import Company
from companies.pages.csv_escaping import escape_formulas
from companies.pages.csv_files import API_CSV_FORMAT, CsvFormat
from companies.permissions import Permissions
from ledger.bulk.spool import open_snapshot, read_rows, spool_rows
from ledger.exports.sql_decimals import build_decimals_sql
from ledger.models import Categorization, PlType
from ledger.transactions.fields import TRANSACTION_TEXTS
from ledger.transactions.pages.labels import COLUMN_HEADINGS as TRANSACTION_HEADINGS
from ledger.transactions.pages.labels import HIDDEN_NAME, LINE_LABELS, SOURCE_LABELS, LedgerNames, load_ledger_names

TEXT_COLUMNS = tuple(text.column for text in TRANSACTION_TEXTS)
TRANSACTIONS, CATEGORIZATIONS = ROW_KINDS = ("transactions", "categorizations")
CATEGORIZATION_HEADINGS: dict[str, Any] = {
    **{
        name: TRANSACTION_HEADINGS[name] for name in ("date", "account", "from_to", "description", "amount", "currency")
    },
    "category": _("Category"),
    "line": _("P&L line"),
    "tax": _("Tax"),
    "service_start": _("Service period start"),
    "service_end": _("Service period end"),
    "counterparty": _("Counterparty"),
    "transaction_amount": _("Transaction amount"),
    **{name: TRANSACTION_HEADINGS[name] for name in ("status", "pending", "transfer", "source", *TEXT_COLUMNS)},
    **{name: TRANSACTION_HEADINGS[name] for name in ("external_id", "id")},
}
"""``amount`` is the categorization's, with the tax in it."""
HEADINGS = {TRANSACTIONS: TRANSACTION_HEADINGS, CATEGORIZATIONS: CATEGORIZATION_HEADINGS}
AMOUNT_COLUMNS = {"amount", "tax", "transaction_amount"}
ROWS_PER_CHUNK = 500

TRANSACTION_COLUMNS = (
    *("id", "date", "account_id", "from_to", "description", "amount_value", "amount_currency", "categorized_value"),
    *("pending", "transferred_value", "source", *TEXT_COLUMNS, "external_id"),
)
_SELECT_ROWS = """
    SELECT t.id, t.date, t.account_id, t.from_to, t.description,
           round(t.amount_value, {decimals}),
           t.amount_currency, t.amount_value <> t.categorized_value, t.pending, t.transferred_value <> 0, t.source,
           {texts} t.external_id, c.category_id, p.name, c.id, concat({lines}) {more}
      FROM ({rows}) AS t ({columns})
      {join} ledger_categorization AS c ON c.company_id = %s AND c.transaction_id = t.id
      LEFT JOIN ledger_counterparty AS p ON p.company_id = %s AND p.id = c.counterparty_id
     ORDER BY {order}, c.position, c.id
"""
_LINE_FLAGS = ", ".join(f"c.{line} IS NOT NULL" for line in PlType.values)  # one text such as tfffftf
_DECIMALS = build_decimals_sql("t.amount_currency")
_CATEGORIZATION_COLUMNS = "".join(
    [
        f", round(c.value, {_DECIMALS}), round(c.pass_through_tax, {_DECIMALS})",
        ", c.computed_start_date, c.computed_end_date",
        *(f", round(c.{line}, {_DECIMALS})" for line in PlType.values),
    ]
)
_TAX_COLUMN = f", round(c.pass_through_tax, {_DECIMALS})"
_JOINS = {TRANSACTIONS: ("LEFT JOIN", _TAX_COLUMN), CATEGORIZATIONS: ("JOIN", _CATEGORIZATION_COLUMNS)}
_ORDER_COLUMNS = {
    "date": "t.date",
    "id": "t.id",
    "amount_value": "t.amount_value",
}
# Positions in a row: the first column of a categorization, its id, and the first column after its names.
CATEGORIZATION_START = len(TRANSACTION_COLUMNS)
CATEGORIZATION_ID = CATEGORIZATION_START + 2
CATEGORIZATION_END = CATEGORIZATION_START + 4


def parse_row_kind(values: Sequence[str]) -> str:
    """Return what a table has one row of, from the values of the parameter `rows`.

    Raises:
        ValidationFailed: `invalid_filter` for anything but one of ROW_KINDS.
    """
    kind = values[0] if len(values) == 1 else "" if values else TRANSACTIONS
    if kind not in ROW_KINDS:
        detail = gettext("Must be one of {words}.").format(words=", ".join(ROW_KINDS))
        raise ValidationFailed([("#/rows", "invalid_filter", detail)])
    return kind


@dataclass(frozen=True, slots=True)
class TransactionTable:
    """A table of transactions in the user's language, with the names that `permissions` allow.

    `rows` is a queryset of the company's transactions, `order` a pair of columns, `row_kind` one of ROW_KINDS.
    `csv_format` is that of its CSV file, and of amounts beside P&L lines.
    """

    company: Company
    rows: Any
    order: Sequence[str]
    permissions: Permissions
    row_kind: str
    headings: list[str]
    language: str | None
    csv_format: CsvFormat

    @property
    def columns(self) -> list[str]:
        """The column names, the same in every language."""
        return list(HEADINGS[self.row_kind])

    def count_rows(self) -> int:
        if self.row_kind == TRANSACTIONS:
            return int(self.rows.order_by().count())
        ids = self.rows.order_by().values("id")
        return int(Categorization.objects.for_company(self.company.id).filter(transaction_id__in=ids).count())

    def iterate_rows(self) -> Generator[tuple[str, ...]]:
        """Yield rows of texts. The first step reads the database, all from one snapshot."""
        file, row_formatter = self.spool_rows()
        with closing(file):
            categorization_rows = read_rows(file)
            if self.row_kind == CATEGORIZATIONS:
                yield from map(row_formatter.format_categorization, categorization_rows)
            else:
                for _, transaction_rows in groupby(categorization_rows, key=operator.itemgetter(0)):
                    yield row_formatter.format_transaction(list(transaction_rows))

    def spool_rows(self) -> tuple[IO[bytes], "RowFormatter"]:
        """Copy a row per categorization into a temporary file; for a table of transactions also those without any."""
        with open_snapshot(), override(self.language):
            names = load_ledger_names(self.company, permissions=self.permissions)
            row_formatter = RowFormatter(names, csv_format=self.csv_format)
            try:
                rows_sql, params = self.rows.order_by().values_list(*TRANSACTION_COLUMNS).query.sql_with_params()
            except EmptyResultSet:
                return io.BytesIO(), row_formatter
            join, extra_columns = _JOINS[self.row_kind]
            columns = [f"{_ORDER_COLUMNS[name.lstrip('-')]}{' DESC' if name[:1] == '-' else ''}" for name in self.order]
            query = _SELECT_ROWS.format(
                decimals=_DECIMALS,
                lines=_LINE_FLAGS,
                texts="".join(f"t.{column}, " for column in TEXT_COLUMNS),
                more=extra_columns,
                rows=rows_sql,
                join=join,
                columns=", ".join(TRANSACTION_COLUMNS),
                order=", ".join(columns),
            )
            return spool_rows(query, [*params, self.company.id, self.company.id]), row_formatter


def build_transaction_table(
    *,
    company: Company,
    rows: Any,
    order: Sequence[str],
    permissions: Permissions,
    row_kind: str = TRANSACTIONS,
    csv_format: CsvFormat = API_CSV_FORMAT,
) -> TransactionTable:
    """Return a table in the active language."""
    headings = [str(heading) for heading in HEADINGS[row_kind].values()]
    return TransactionTable(company, rows, order, permissions, row_kind, headings, get_language(), csv_format)


def stream_csv(table: TransactionTable) -> Iterator[bytes]:
    """Yield a table as CSV in UTF-8: first the headings, then the rows."""
    text = io.StringIO(newline="")
    writer = table.csv_format.create_writer(text)
    amount_positions = [position for position, name in enumerate(table.columns) if name in AMOUNT_COLUMNS]

    def take_chunk() -> bytes:
        taken = text.getvalue().encode()
        text.seek(0)
        text.truncate()
        return taken

    writer.writerow(table.headings)
    yield take_chunk()
    with closing(table.iterate_rows()) as rows:
        while chunk := list(islice(rows, ROWS_PER_CHUNK)):
            writer.writerows(format_amounts(row, amount_positions, table.csv_format) for row in chunk)
            yield take_chunk()


def format_amounts(row: Sequence[str], positions: Sequence[int], csv_format: CsvFormat) -> Sequence[str]:
    """Return a row with its amounts in a format."""
    if csv_format.decimal_mark == ".":
        return row
    return [csv_format.format_number(cell) if place in positions else cell for place, cell in enumerate(row)]


# ---------------------------------------------------------------------------------------------- rows


class RowFormatter:
    """Formats rows: names for ids, labels for flags."""

    def __init__(self, names: LedgerNames, *, csv_format: CsvFormat):
        self.csv_format = csv_format
        self.accounts = {str(each): escape_formulas(row.name) for each, row in names.accounts.items()}
        self.categories = {str(each): escape_formulas(row.display_name) for each, row in names.categories.items()}
        self.can_read_counterparties = names.can_read_counterparties
        self.line_texts: dict[str, str] = {}
        self.line_labels = [str(LINE_LABELS[line]) for line in PlType]
        self.source_labels = {str(source): str(label) for source, label in SOURCE_LABELS.items()}
        self.status_labels = {"t": gettext("open"), "f": gettext("closed")}
        self.flag_labels = {"t": gettext("yes"), "f": ""}
        self.hidden_name = str(HIDDEN_NAME)

    def format_transaction(self, categorization_rows: Sequence[list[str]]) -> tuple[str, ...]:
        """Format a transaction's categorizations as one row; several values share a cell, with semicolons."""
        first_row = categorization_rows[0]
        (
            transaction_id,
            day,
            account,
            from_to,
            description,
            amount,
            currency,
            is_open,
            pending,
            is_transfer,
            source,
            *texts,
            external_id,
        ) = first_row[:CATEGORIZATION_START]
        categorization_cells = (
            self.format_categorization_cells(first_row) if first_row[CATEGORIZATION_ID] else ("", "", "")
        )
        if len(categorization_rows) > 1:
            all_cells = [self.format_categorization_cells(part) for part in categorization_rows]
            categorization_cells = (
                join_unique(transaction_id[0] for transaction_id in all_cells),
                self.format_lines(merge_line_flags(categorization_rows)),
                join_unique(transaction_id[2] for transaction_id in all_cells),
            )
        return (
            day,
            self.accounts.get(account, self.hidden_name),
            from_to and escape_formulas(from_to),
            description and escape_formulas(description),
            amount,
            currency,
            self.status_labels[is_open],
            *categorization_cells,
            sum_taxes(row[CATEGORIZATION_END] for row in categorization_rows),
            self.flag_labels[pending],
            self.flag_labels[is_transfer],
            self.source_labels[source],
            *(text and escape_formulas(text) for text in texts),
            external_id and escape_formulas(external_id),
            transaction_id,
        )

    def format_categorization(self, row: list[str]) -> tuple[str, ...]:
        """Format a categorization as one row, with the columns of its transaction."""
        (
            transaction_id,
            day,
            account,
            from_to,
            description,
            transaction_amount,
            currency,
            is_open,
            pending,
            is_transfer,
            source,
            *texts,
            external_id,
        ) = row[:CATEGORIZATION_START]
        category, lines, counterparty = self.format_categorization_cells(row)
        amount, tax, start, end, *amounts_by_line = row[CATEGORIZATION_END:]
        if ";" in lines:  # with several P&L lines, show the amount of each
            amounts = zip(self.line_labels, amounts_by_line, strict=True)
            lines = "; ".join(f"{label} {self.csv_format.format_number(value)}" for label, value in amounts if value)
        return (
            day,
            self.accounts.get(account, self.hidden_name),
            from_to and escape_formulas(from_to),
            description and escape_formulas(description),
            amount,
            currency,
            category,
            lines,
            tax,
            start,
            end,
            counterparty,
            transaction_amount,
            self.status_labels[is_open],
            self.flag_labels[pending],
            self.flag_labels[is_transfer],
            self.source_labels[source],
            *(text and escape_formulas(text) for text in texts),
            external_id and escape_formulas(external_id),
            transaction_id,
        )

    def format_categorization_cells(self, row: list[str]) -> tuple[str, str, str]:
        """Return category, P&L lines and counterparty of a categorization."""
        category, name, _, flags = row[CATEGORIZATION_START:CATEGORIZATION_END]
        counterparty = name and (escape_formulas(name) if self.can_read_counterparties else self.hidden_name)
        return self.categories.get(category, self.hidden_name), self.format_lines(flags), counterparty

    def format_lines(self, flags: str) -> str:
        if flags not in self.line_texts:
            self.line_texts[flags] = "; ".join(
                label for label, flag in zip(self.line_labels, flags, strict=True) if flag == "t"
            )
        return self.line_texts[flags]


def join_unique(words: Iterable[str]) -> str:
    """Join texts with semicolons, each once, in their order."""
    return "; ".join(dict.fromkeys(word for word in words if word))


def sum_taxes(amounts: Iterable[str | None]) -> str:
    """Return the sum of the taxes of a transaction; empty without any."""
    taxes = [Decimal(amount) for amount in amounts if amount]
    return str(sum(taxes)) if taxes else ""


def merge_line_flags(categorization_rows: Sequence[list[str]]) -> str:
    """Return the flags of the P&L lines that any of the categorizations has."""
    return "".join(
        "t" if "t" in flags else "f"
        for flags in zip(*(part[CATEGORIZATION_END - 1] for part in categorization_rows), strict=True)
    )
