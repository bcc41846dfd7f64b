"""Tables whose columns are found by their headings, and their rows with what is wrong with them."""

import datetime as dt
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
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
from ledger.imports.calc.dates import DateOrder, find_bank_date, parse_calendar_date
from ledger.imports.calc.headings import fold_heading
from ledger.money.calc.money import CURRENCIES, get_minor_units

MAX_LINES_ABOVE = 20  # titles above the headings
HeadingFields = Mapping[str, tuple[str, int]]  # folded heading → (field, rank); of several the lowest rank counts


class RowFault(NamedTuple):
    """What is wrong with a row: `field` is an API name, `message` has placeholders for `values`."""

    position: int
    line: int
    field: str
    code: str
    message: str
    values: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class NamedColumns:
    """Which columns a table has: field → position, and position → currency of its heading."""

    positions: Mapping[str, int]
    currencies: Mapping[int, str]

    def __contains__(self, name: str) -> bool:
        return name in self.positions

    def get_cell(self, cells: Sequence[str], name: str) -> str:
        """Return the row's cell of a field; empty without one."""
        position = self.positions.get(name)
        return cells[position] if position is not None and position < len(cells) else ""

    def get_currency(self, name: str | None) -> str | None:
        """Return the currency that the heading of a field states."""
        return self.currencies.get(self.positions[name]) if name in self.positions and name else None


@dataclass(frozen=True, slots=True)
class NamedTable:
    """A table: its headings, its columns, and the rows below its headings."""

    headings: Sequence[str]
    columns: NamedColumns
    rows: Sequence[Line]

    def list_texts(self, fields: Iterable[str]) -> list[str]:
        """Return what stands in columns, without empty cells."""
        names = list(fields)
        return [text for line in self.rows for name in names if (text := self.columns.get_cell(line.cells, name))]

    def find_surplus_line(self) -> int | None:
        """Return the line of the first row with a value right of the last heading; None without one.

        Such a row has a separator within a value, such as the decimal comma of an amount without quotation marks.
        """
        width = len(self.headings)
        return next((line.number for line in self.rows if line.width > width and any(line.cells[width:])), None)

    def find_contradicting_date(self, fields: Iterable[str]) -> RowFault | None:
        """Return what is wrong with the first date that has day and month the other way round than one before it."""
        names = list(fields)
        decided: tuple[DateOrder, str, int] | None = None  # order, text, line
        for position, line in enumerate(self.rows):
            for name in names:
                text = self.columns.get_cell(line.cells, name)
                orders = [
                    order for order in (DateOrder.DAY_FIRST, DateOrder.MONTH_FIRST) if find_bank_date(text, order)
                ]
                if len(orders) != 1:
                    continue
                if decided is None:
                    decided = orders[0], text, line.number
                elif decided[0] is not orders[0]:
                    values = {"text": text[:40], "other": decided[1][:40], "line": str(decided[2])}
                    return RowFault(
                        position,
                        line.number,
                        name,
                        "invalid_date",
                        "“{text}” has day and month in another order than “{other}” in line {line}. Use one order.",
                        values,
                    )
        return None

    @property
    def unused_headings(self) -> list[str]:
        """The headings of columns with values that no field is read from."""
        used = set(self.columns.positions.values())
        return [
            heading
            for position, heading in enumerate(self.headings)
            if heading.strip()
            and position not in used
            and any(position < len(line.cells) and line.cells[position].strip() for line in self.rows)
        ]

    def list_repeated_headings(self, fields: HeadingFields) -> list[str]:
        """Return headings that several columns have and that name a field."""
        names = {fold_heading(heading): heading for heading in self.headings}
        counts = Counter(map(fold_heading, self.headings))
        return [names[text] for text, count in counts.items() if count > 1 and text in fields]


def find_named_table(lines: Sequence[Line], fields: HeadingFields) -> NamedTable:
    """Return the table below the line whose headings name the most fields; without any line, one without columns.

    >>> fields = {"invoice": ("number", 0), "total": ("amount", 0)}
    >>> table = find_named_table([Line(1, ["Open items"]), Line(2, ["Invoice", "Total"]), Line(3, ["1", "5"])], fields)
    >>> dict(table.columns.positions), len(table.rows)
    ({'number': 0, 'amount': 1}, 1)
    """
    candidates = [
        (find_named_columns(line.cells, fields), position) for position, line in enumerate(lines[:MAX_LINES_ABOVE])
    ]
    if not candidates:
        return NamedTable([], NamedColumns({}, {}), [])
    columns, position = max(candidates, key=lambda each: (len(each[0].positions), -each[1]))
    return NamedTable(lines[position].cells, columns, lines[position + 1 :])


def find_named_columns(headings: Sequence[str], fields: HeadingFields) -> NamedColumns:
    """Return the columns that headings name. Of several for one field the most specific heading counts."""
    ranked: dict[str, tuple[int, int]] = {}  # field → (rank of the heading, position)
    currencies: dict[int, str] = {}
    for position, heading in enumerate(headings):
        words = fold_heading(heading).split()
        codes = [word.upper() for word in words if word.upper() in get_currency_codes()]
        text = (
            " ".join(word for word in words if word.upper() not in get_currency_codes()) if len(words) > 1 else heading
        )
        if (known := fields.get(fold_heading(text))) is None:
            continue
        name, rank = known
        if name not in ranked or rank < ranked[name][0]:
            ranked[name] = rank, position
        if codes:
            currencies[position] = codes[0]
    return NamedColumns({name: position for name, (_, position) in ranked.items()}, currencies)


def rank_headings(headings: Mapping[str, Sequence[str]]) -> dict[str, tuple[str, int]]:
    """Return the field and rank of each folded heading; headings of a field are listed from the most specific.

    >>> rank_headings({"amount": ["open amount", "amount"]})
    {'open amount': ('amount', 0), 'amount': ('amount', 1)}
    """
    fields: dict[str, tuple[str, int]] = {}
    for name, texts in headings.items():
        for rank, text in enumerate(texts):
            fields.setdefault(fold_heading(text), (name, rank))
    return fields


def find_distinct_decimal_marks(texts: Sequence[str]) -> list[DecimalMark]:
    """Return the decimal marks with which amounts can be read; one where both mean the same amounts."""
    marks = list(find_decimal_marks(texts))
    if len(marks) < 2 or any(find_amount(text, marks[0]) != find_amount(text, marks[1]) for text in texts):
        return marks
    return marks[:1]


def find_amount(text: str, decimal_mark: DecimalMark) -> Decimal | None:
    """Return an amount; None if the text is none with this mark."""
    try:
        return Decimal(parse_bank_money(text, decimal_mark).amount)
    except UnreadableValueError:
        return None


class NamedRowReader:
    """Reads the cells of one row and collects what is wrong with them."""

    def __init__(
        self,
        columns: NamedColumns,
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

    def add_fault(self, name: str, code: str, message: str, **values: str) -> None:
        self.faults.append(RowFault(self.position, self.line, name, code, message, values))

    def add_missing(self, name: str) -> None:
        self.add_fault(name, "required", "This field is required.")

    def get_cell(self, name: str) -> str:
        return self.columns.get_cell(self.cells, name)

    def read_text(self, name: str, *, max_length: int, required: bool = False) -> str:
        text = str(self.get_cell(name))
        if not text and required:
            self.add_missing(name)
        if len(text) > max_length:
            self.add_fault(name, "too_long", "The text is too long.")
        if "\0" in text:
            self.add_fault(name, "invalid_characters", "Must not contain NUL characters.")
        return text

    def read_date(self, name: str, *, required: bool = False) -> dt.date | None:
        text = self.get_cell(name)
        if not text:
            if required:
                self.add_missing(name)
            return None
        try:
            return parse_calendar_date(text, self.date_order)
        except UnreadableValueError as error:
            self.add_fault(name, "invalid_date", error.message, **error.values)
            return None

    def read_amount(self, name: str) -> tuple[Decimal | None, str | None]:
        """Return the amount and its currency; (None, None) where one is wrong."""
        text = self.get_cell(name)
        if not text:
            self.add_missing(name)
            return None, None
        try:
            money = parse_bank_money(text, self.decimal_mark)
        except UnreadableValueError as error:
            self.add_fault(name, "invalid_decimal", error.message, **error.values)
            return None, None
        currency = self.read_currency(name, money.currencies)
        if self.faults:
            return None, None
        amount = trim_trailing_zeros(money.amount, get_minor_units(currency or self.default_currency))
        if len(amount.partition(".")[2]) > get_minor_units(currency or self.default_currency):
            self.add_fault(name, "too_many_decimals", "“{text}” has too many decimals.", text=text[:40])
            return None, None
        return Decimal(amount), currency

    def read_currency(self, name: str, beside_amount: Sequence[str] = ()) -> str | None:
        """Return the currency of the column, of the amount, or of its heading; None where none is stated."""
        text = self.get_cell("currency")
        stated = find_named_currencies(text) if text else beside_amount
        if text and beside_amount and not set(stated) & set(beside_amount):
            self.add_fault(
                "currency", "contradicts_amount", "The amount has another currency than “{text}”.", text=text[:40]
            )
        if not text and not stated:
            return self.columns.get_currency(name)
        currency = self.default_currency if self.default_currency in stated else next(iter(stated), None)
        if currency not in CURRENCIES:
            self.add_fault(
                "currency", "invalid_choice", "“{text}” is not a supported currency.", text=(text or str(currency))[:40]
            )
            return None
        return currency
