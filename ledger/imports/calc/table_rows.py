"""The rows of a table as movements: what a mapping makes of each, and what is left out."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from functools import cached_property
from itertools import islice

from ledger.calc.delimited_text import Line
from ledger.imports.calc.amounts import (
    UnreadableValueError,
    is_amount_text,
)
from ledger.imports.calc.balance_lines import WORDLESS, BalanceLines, DatedRow, find_balance_line_kind
from ledger.imports.calc.balance_steps import Amounts, build_steps
from ledger.imports.calc.column_mapping import AMOUNT_FIELDS, fold_setting_value
from ledger.imports.calc.columns import find_possible_amounts, is_like_amount
from ledger.imports.calc.currencies import (
    choose_currency,
    convert_cents_to_units,
    count_currency_decimals,
    find_named_currencies,
)
from ledger.imports.calc.dates import find_bank_date, parse_bank_date
from ledger.imports.calc.movements import BadCell, LeftOutRow, Movement, Read
from ledger.imports.calc.row_amounts import AmountReader
from ledger.imports.calc.table import SAMPLE_ROWS
from ledger.imports.calc.vocabulary import find_balance_name_kind, find_row_line_kind, has_words
from ledger.transactions.fields import TRANSACTION_TEXTS

MAX_CODE_LENGTH = 3  # characters of a code such as MK
TEXT_FIELDS = ("counterparty", "counterpartyAccount")
OTHER_TEXT_FIELDS = ("reference", *(text.name for text in TRANSACTION_TEXTS))  # where banks name balances too


@dataclass
class RowReader(AmountReader):
    """Reads rows by one mapping. ``own_currency`` is the account's."""

    last_row: int = field(init=False, default=0)
    accounts: frozenset[str] = field(init=False, default=frozenset())
    amounts: frozenset[int] = field(init=False, default=frozenset())  # positions of their columns
    needed: int = field(init=False, default=0)  # position of the last column without which a row says nothing
    width: int = field(init=False, default=0)  # cells that a row may have
    balance_lines: BalanceLines = field(init=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        columns = self.mapping.columns
        self.amounts = frozenset(columns[name] for name in AMOUNT_FIELDS if name in columns)
        self.needed = max(columns.get("date", 0), min(self.amounts, default=0))
        self.accounts = frozenset(fold_setting_value(value) for value in self.mapping.accounts or ())
        self.last_row = next((line.number for line in reversed(self.table.rows) if self._has_day(line.cells)), 0)
        self.width = self.table.find_row_width(lambda line: self._has_day(line.cells))
        self.balance_lines = BalanceLines(self._read_dated)

    def _read_dated(self) -> list[DatedRow]:
        dated_rows = []
        for line in self.table.rows:
            cells = line.cells
            day = find_bank_date(self.get_cell(cells, "date"), self.mapping.date_order)
            if day is not None and not self._explain_by_values(line, cells):
                amount, balance = self.find_amount(line), self._read_number(cells, "balance")
                kind = self._find_line_kind(cells)
                is_like_payment = bool(kind) and self._is_like_payment(cells)
                dated_rows.append(DatedRow(line.number, day, amount, balance, kind, is_like_payment))
        return dated_rows

    def _is_like_payment(self, cells: Sequence[str]) -> bool:
        """Whether a row has a direction, or a reference that names no balance."""
        reference = self.get_cell(cells, "reference")
        has_reference = any(sign.isalnum() and sign != "0" for sign in reference)
        return bool(self.get_cell(cells, "direction")) or (has_reference and not find_balance_name_kind(reference))

    def _list_texts(self, cells: Sequence[str]) -> list[str]:
        """What a row says in words: in the columns of texts, or where they say nothing in others."""
        columns = self.mapping.columns
        positions = [*self.mapping.description, *(columns[name] for name in TEXT_FIELDS if name in columns)]
        if texts := [cells[position] for position in positions if position < len(cells) and cells[position]]:
            words = [
                cells[position]
                for position in positions
                if position < len(cells) and position not in self._code_columns
            ]
            return list(filter(None, words)) or texts
        taken = {position for name, position in columns.items() if name not in OTHER_TEXT_FIELDS}
        return [cell for position, cell in enumerate(cells) if position not in taken and cell[:1].isalpha()]

    @cached_property
    def _code_columns(self) -> frozenset[int]:
        """The positions of columns of the description with nothing but short codes, which name nothing in words."""
        lengths: dict[int, int] = {}
        for line in self.table.rows[:SAMPLE_ROWS]:
            cells = line.cells
            for position in self.mapping.description:
                lengths[position] = max(lengths.get(position, 0), len(cells[position]) if position < len(cells) else 0)
        return frozenset(position for position, length in lengths.items() if length <= MAX_CODE_LENGTH)

    def _find_line_kind(self, cells: Sequence[str]) -> str:
        texts = self._list_texts(cells)
        return find_balance_line_kind(texts) or (WORDLESS if not texts and self._has_two_wordless else "")

    @cached_property
    def _has_two_wordless(self) -> bool:
        """Whether just two rows with a day say nothing in words, as the balances before and after all may."""
        dated = (line.cells for line in self.table.rows if self._has_day(line.cells))
        return sum(1 for _ in islice((cells for cells in dated if not self._list_texts(cells)), 3)) == 2

    def find_amount(self, line: Line) -> Decimal | None:
        """The amount of a row with its sign; None where it has none that can be read."""
        try:
            return Decimal(self.read_amount(line.cells)[0])
        except UnreadableValueError:
            return None

    def read_rows(self, lines: Iterable[Line] | None = None) -> Iterator[Read]:
        """Yield the result for each row. Signs that only the balance shows come from the row before or after."""
        lines = self.table.rows if lines is None else lines
        if self.mapping.sign_from_balance:
            known = list(lines)
            yield from self._apply_balance_signs(known, [self.read(line) for line in known])
        else:
            for line in lines:
                yield self.read(line)

    def _apply_balance_signs(self, lines: Sequence[Line], rows: list[Read]) -> list[Read]:
        """The rows with the signs of the steps of their balances; one without a step is bad.

        A row at the end of the balances, which has no neighbour to take its sign from, has the one that was chosen.
        """
        amounts = [
            self.find_amount(line) if isinstance(row, Movement) else None for line, row in zip(lines, rows, strict=True)
        ]
        steps = self._read_steps(lines, rows, amounts)
        reason = "The balance does not show whether this is money in or money out."
        signed: list[Read] = []
        for line, row, amount, step in zip(lines, rows, amounts, steps, strict=True):
            if not isinstance(row, Movement) or not amount:
                signed.append(row)
            elif step is not None and abs(step) == abs(amount):
                signed.append(self._build_movement(row, line.cells, str(-step if self.mapping.flip_sign else step)))
            elif step is None and row.balance is not None and self.mapping.unproven_sign:
                size = -abs(amount) if self.mapping.unproven_sign == "out" else abs(amount)
                signed.append(self._build_movement(row, line.cells, str(size)))
            else:
                signed.append(BadCell(row.line, "amount", UnreadableValueError(reason)))
        return signed

    def _build_movement(self, row: Movement, cells: Sequence[str], amount: str) -> Movement:
        """A row with an amount, and the balance after it, of the unit of the file."""
        balance = self.find_balance(cells, amount)
        if self.mapping.is_minor:
            decimals = count_currency_decimals(row.currency or self.own_currency)
            amount = convert_cents_to_units(amount, decimals)
            balance = balance.scaleb(-decimals) if balance is not None else None
        return replace(row, amount=amount, balance=balance)

    def _read_steps(self, lines: Sequence[Line], read_rows: Sequence[Read], amounts: Amounts) -> Amounts:
        rows = [line.cells if self._has_balance(row) else [] for line, row in zip(lines, read_rows, strict=True)]
        before = [self._read_number(cells, "balanceBefore") for cells in rows]
        after = [self._read_number(cells, "balance") for cells in rows]
        days = [row.day if isinstance(row, Movement) else None for row in read_rows]
        keys = [
            (
                row.currency if isinstance(row, Movement) else "",
                self.get_cell(cells, "account"),
                self.get_cell(cells, "currency"),
            )
            for row, cells in zip(read_rows, rows, strict=True)
        ]
        columns = self.mapping.columns
        is_before = "balance" not in columns
        return (
            build_steps(
                before if is_before else after,
                days,
                keys,
                before=before if "balanceBefore" in columns and not is_before else None,
                is_before=is_before,
            )
            .read(amounts)
            .steps
        )

    @staticmethod
    def _has_balance(row: Read) -> bool:
        return isinstance(row, Movement) or (isinstance(row, LeftOutRow) and row.reason == "balance")

    def needs_unproven_sign(self) -> bool:
        """Whether a row is at the end of the balances, so that none shows its sign."""
        rows = replace(self, mapping=replace(self.mapping, unproven_sign="")).read_rows()
        chosen = replace(self, mapping=replace(self.mapping, unproven_sign="in")).read_rows()
        return any(isinstance(a, BadCell) and isinstance(b, Movement) for a, b in zip(rows, chosen, strict=True))

    def read(self, line: Line) -> Read:
        cells = line.cells
        if reason := self.find_skip_reason(line, cells):
            return LeftOutRow(line.number, reason)
        name = "row"
        try:
            if any(cells[self.width :]) or len(cells) <= self.needed:
                column_counts = {"count": str(len(cells)), "columns": str(self.table.named_width or self.table.width)}
                raise UnreadableValueError("The row has {count} columns, the table has {columns}.", **column_counts)
            if self.table.has_split_amount(cells, self.amounts):
                raise UnreadableValueError("A comma may split an amount. Put amounts in quotation marks.")
            if self._is_unproven_balance(line, cells):
                raise UnreadableValueError(
                    "“{text}” may be a balance or a payment. Delete the row, or change the text of a payment.",
                    text=next(iter(self._list_texts(cells)), "")[:40],
                )
            name = "account"
            if self._lacks_account(cells):
                raise UnreadableValueError("The account number is missing.")
            name = "status"
            is_pending = self.read_status(cells) == "pending"
            name = "date"
            text = self.get_cell(cells, "date") or (self.get_cell(cells, "valueDate") if is_pending else "")
            if not text:
                raise UnreadableValueError("The date is missing.")
            day = parse_bank_date(text, self.mapping.date_order)
            name = "amount"
            amount, currencies = self.read_amount(cells)
            name = "currency"
            currency = self.read_currency(cells, currencies)
        except UnreadableValueError as error:
            return BadCell(line.number, name, error)
        movement = Movement(line.number, day, amount, currency, is_pending)
        return self._build_movement(movement, cells, amount)

    def find_skip_reason(self, line: Line, cells: Sequence[str]) -> str:
        """Return why a row is no transaction; empty if it is one, or should be."""
        if reason := self._explain_by_values(line, cells):
            return reason
        day = self.get_cell(cells, "date")
        amounts = [text for name in AMOUNT_FIELDS if (text := self.get_cell(cells, name))]
        if not any(sign.isdigit() for sign in day):
            return self._explain_missing_day(line, cells, day, amounts)
        if len(cells) <= self.needed:
            return ""
        if not amounts and not self._has_other_numbers(cells):
            return "balance" if self.get_cell(cells, "balance") else "empty"
        is_balance = self._find_line_kind(cells) and line.number in self.balance_lines.find().balances
        return "balance" if is_balance else ""

    def _is_unproven_balance(self, line: Line, cells: Sequence[str]) -> bool:
        return bool(self._find_line_kind(cells)) and line.number in self.balance_lines.find().unproven

    def _explain_by_values(self, line: Line, cells: Sequence[str]) -> str:
        mapping = self.mapping
        if mapping.accounts is not None:
            label = self.table.get_account_label(line, mapping.columns.get("account"))
            if fold_setting_value(label) not in self.accounts and not self._lacks_account(cells):
                return "account"
        for name, kinds in (("direction", mapping.directions), ("status", mapping.statuses)):
            if name in mapping.columns and kinds.get(fold_setting_value(self.get_cell(cells, name))) == "leaveOut":
                return "status"
        return ""

    def _lacks_account(self, cells: Sequence[str]) -> bool:
        """Whether a row with a day does not say of which account it is, so that leaving it out may lose it."""
        has_column = self.mapping.accounts is not None and "account" in self.mapping.columns
        return has_column and not self.get_cell(cells, "account") and self._has_day(cells)

    def _explain_missing_day(self, line: Line, cells: Sequence[str], day: str, amounts: Sequence[str]) -> str:
        """Return the reason of a row without a date: a footer or a sum, never one with an amount of its own."""
        if not any(map(self._parse_or_none, amounts)):
            return "footer"
        if find_row_line_kind(cells):
            return "balance"
        return "footer" if line.number > self.last_row and (day or not has_words(cells)) else ""

    def _has_other_numbers(self, cells: Sequence[str]) -> bool:
        """Whether the fee, or a column that is read for nothing, has what may be the amount of a row."""
        if (self._parse_or_none(self.get_cell(cells, "fee")) or "0").strip("-0."):
            return True
        mapped_positions = set(self.mapping.columns.values())
        return any(
            cell
            and position not in mapped_positions
            and (
                is_like_amount(cell)
                if position in self._possible_amounts
                else ("." in cell or "," in cell) and is_amount_text(cell, self.mapping.decimal_mark)
            )
            for position, cell in enumerate(cells)
        )

    @cached_property
    def _possible_amounts(self) -> frozenset[int]:
        return find_possible_amounts(self.table)

    def read_currency(self, cells: Sequence[str], currencies: tuple[str, ...]) -> str:
        """Return the currency of the row; empty if it names none. Raises UnreadableValueError."""
        text = self.get_cell(cells, "currency")
        named = find_named_currencies(text) if text else ()
        if text and not named:
            raise UnreadableValueError("“{text}” is not a supported currency.", text=text[:40])
        if named and currencies and not set(named) & set(currencies):
            raise UnreadableValueError("“{text}” differs from the currency of the amount.", text=text[:40])
        candidates = tuple(each for each in named if not currencies or each in currencies) or currencies
        if not candidates:
            if "currency" in self.mapping.columns and self.has_other_currencies:
                raise UnreadableValueError("The currency is missing.")
            return self.mapping.currency
        currency = choose_currency(candidates, own_currency=self.own_currency, stated_currency=self.mapping.currency)
        if currency is None:
            raise UnreadableValueError(
                "“{text}” is used by several currencies. Choose one.", text=(text or "/".join(candidates))[:40]
            )
        return currency

    @cached_property
    def has_other_currencies(self) -> bool:
        """Whether the column of currencies has others than the account's: a row without one may be in any then."""
        values = {self.get_cell(line.cells, "currency") for line in self.table.rows[:SAMPLE_ROWS]}
        return any(self.own_currency not in find_named_currencies(value) for value in values if value)

    def read_status(self, cells: Sequence[str]) -> str:
        if "status" not in self.mapping.columns:
            return "booked"
        value = self.get_cell(cells, "status")
        kind = self.mapping.statuses.get(fold_setting_value(value))
        if kind is None:
            raise UnreadableValueError("“{text}” is not a known status.", text=value[:40])
        return kind

    def find_balance(self, cells: Sequence[str], amount: str) -> Decimal | None:
        """The balance after a row; None where the table does not tell it."""
        if "balance" in self.mapping.columns:
            return self._read_number(cells, "balance")
        before = self._read_number(cells, "balanceBefore")
        return None if before is None else before + Decimal(amount)
