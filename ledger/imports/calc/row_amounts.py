"""The amount of a row: of one column, beside a direction, or of a debit and a credit column."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from functools import cached_property

from ledger.imports.calc.amounts import (
    BankAmount,
    DecimalMark,
    UnreadableValueError,
    find_amount_sign,
    negate_amount,
    parse_bank_amount,
    parse_bank_money,
)
from ledger.imports.calc.column_mapping import ColumnMapping, fold_setting_value
from ledger.imports.calc.dates import is_date_like
from ledger.imports.calc.signs import find_minus_meaning, is_plus_partial
from ledger.imports.calc.table import Table
from ledger.imports.calc.vocabulary import find_directions


@dataclass
class AmountReader:
    """Reads the amounts of rows by one mapping."""

    table: Table
    mapping: ColumnMapping
    own_currency: str
    fee_is_negative: bool = field(init=False, default=False)
    plus_is_partial: bool = field(init=False, default=False)  # whether only amounts of money in are marked
    minus: dict[str, str] = field(init=False, default_factory=dict)  # what a minus means, empty where that is open

    def __post_init__(self) -> None:
        columns = self.mapping.columns
        negative, positive = self._count_signs("fee")
        self.fee_is_negative = negative > positive
        for name in ("debit", "credit"):
            self.minus[name] = self.mapping.minus_means.get(name) or find_minus_meaning(*self._count_signs(name))
        if "amount" in columns and "direction" in columns:
            self.minus["direction"] = self.mapping.minus_means.get("direction") or self._find_minus_beside_direction()
        if "amount" in columns and self.mapping.flip_sign:
            self.plus_is_partial = is_plus_partial(self._iterate_cells("amount"))

    def get_cell(self, cells: Sequence[str], name: str) -> str:
        """Return the cell of a field; empty if it has no column."""
        position = self.mapping.columns.get(name)
        return cells[position] if position is not None and position < len(cells) else ""

    def _iterate_cells(self, name: str) -> Iterator[str]:
        """What stands in a field's column, in all rows."""
        position = self.mapping.columns.get(name)
        rows = () if position is None else (line.cells for line in self.table.rows)
        return (cells[position] for cells in rows if position is not None and position < len(cells) and cells[position])

    def _has_day(self, cells: Sequence[str]) -> bool:
        return is_date_like(self.get_cell(cells, "date"))

    def _count_signs(self, name: str) -> tuple[int, int]:
        """Return how many amounts of a column (have a minus, have none). Totals at the end have no date."""
        rows = (line.cells for line in self.table.rows)
        texts = (self.get_cell(cells, name) for cells in rows if self._has_day(cells))
        amounts = [amount for text in texts if text and (amount := self._parse_or_none(text))]
        negative = sum(amount.startswith("-") for amount in amounts)
        return negative, sum(bool(amount.strip("0.")) for amount in amounts) - negative

    def _find_minus_beside_direction(self) -> str:
        """What a minus beside a direction means: nothing where all signs agree with the directions."""
        signs: set[tuple[bool, str | None]] = set()
        for line in self.table.rows:
            cells = line.cells
            amount = self._parse_or_none(self.get_cell(cells, "amount"))
            if amount and amount.strip("-0."):
                signs.add(
                    (
                        amount.startswith("-"),
                        self.mapping.directions.get(fold_setting_value(self.get_cell(cells, "direction"))),
                    )
                )
        if not any(is_minus for is_minus, _ in signs):
            return "reverses"
        return "" if {(True, "in"), (False, "out")} & signs else "repeats"

    def _parse_or_none(self, text: str) -> str | None:
        try:
            return parse_bank_amount(text, self.mapping.decimal_mark)
        except UnreadableValueError:
            return None

    def read_amount(self, cells: Sequence[str]) -> tuple[str, tuple[str, ...]]:
        """Return (signed amount, currencies that its cell may mean). Raises UnreadableValueError."""
        mapping, mark = self.mapping, self.mapping.decimal_mark
        text = self.get_cell(cells, "amount")
        if "amount" in mapping.columns:
            if not text:
                raise UnreadableValueError("The amount is missing.")
            amount, currencies = parse_bank_money(text, mark)
            if "direction" in mapping.columns and amount.strip("-0."):
                amount = self._apply_direction(amount, self.get_cell(cells, "direction"))
        else:
            amount, currencies = self._read_debit_or_credit(cells, mark)
        if mapping.flip_sign and not (self.plus_is_partial and find_amount_sign(text) == "+"):
            amount = negate_amount(amount)
        fee = self.get_cell(cells, "fee")
        if fee and (fee_amount := parse_bank_amount(fee, mark)).strip("-0."):
            amount = str(Decimal(amount) + (1 if self.fee_is_negative else -1) * Decimal(fee_amount))
        return amount, currencies

    def _apply_direction(self, amount: str, value: str) -> str:
        kind = self.mapping.directions.get(fold_setting_value(value))
        if kind is None:
            raise UnreadableValueError("“{text}” is not a known direction.", text=value[:40])
        meaning = self._read_minus("direction")
        if meaning == "decides":
            return amount
        amount = amount.lstrip("-") if meaning == "repeats" else amount
        return negate_amount(amount) if kind == "out" else amount

    def _sign_column_amount(self, name: str, amount: str) -> str:
        """An amount of the debit or the credit column, with the sign that it has for the account."""
        repeats = self._read_minus(name) == "repeats"
        return negate_amount(amount) if repeats == (name == "credit") else amount

    def _read_minus(self, name: str) -> str:
        if not self.minus[name]:
            raise UnreadableValueError("Only some amounts have a minus sign. Choose what it means.")
        return self.minus[name]

    def _read_debit_or_credit(self, cells: Sequence[str], decimal_mark: DecimalMark) -> tuple[str, tuple[str, ...]]:
        debit_text, credit_text = self.get_cell(cells, "debit"), self.get_cell(cells, "credit")
        if not debit_text and not credit_text:
            raise UnreadableValueError("The amount is missing.")
        debit_amount, credit_amount = (
            parse_bank_money(text, decimal_mark) if text else None for text in (debit_text, credit_text)
        )
        if debit_amount and credit_amount and debit_amount.amount.strip("-0.") and credit_amount.amount.strip("-0."):
            raise UnreadableValueError("Both debit and credit have a value.")
        if credit_amount and (credit_amount.amount.strip("-0.") or debit_amount is None):
            return self._sign_column_amount("credit", credit_amount.amount), credit_amount.currencies
        debit_amount = debit_amount or BankAmount("0")
        return self._sign_column_amount("debit", debit_amount.amount), debit_amount.currencies

    def _read_number(self, cells: Sequence[str], name: str) -> Decimal | None:
        text = self.get_cell(cells, name)
        if name == "balance" and "balanceDirection" in self.mapping.columns:
            text = sign_balance_text(
                text, self._balance_kinds.get(fold_setting_value(self.get_cell(cells, "balanceDirection")), "")
            )
        amount = self._parse_or_none(text) if text else None
        return Decimal(amount) if amount is not None else None

    @cached_property
    def _balance_kinds(self) -> dict[str, str]:
        """Whether a value beside the balance means that money is held (in) or owed (out)."""
        position = self.mapping.columns["balanceDirection"]
        return find_directions(
            dict.fromkeys(map(fold_setting_value, self._iterate_cells("balanceDirection"))), self.table.names[position]
        )


def sign_balance_text(text: str, kind: str) -> str:
    """Return a balance with the sign that the direction beside it means; empty where it is unknown.

    >>> sign_balance_text("20,00", "out"), sign_balance_text("-20,00", "out"), sign_balance_text("20,00", "")
    ('-20,00', '-20,00', '')
    """
    if not text or not kind or find_amount_sign(text) == "-":
        return text if kind else ""
    return f"-{text}" if kind == "out" else text
