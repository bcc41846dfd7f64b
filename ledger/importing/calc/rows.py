"""The rows of a table as movements: what a mapping makes of each, what is left out, and whether the balance agrees."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from decimal import Decimal
from functools import cached_property
from itertools import pairwise

from ledger.calc.money import CURRENCIES, minor_units
from ledger.calc.tables import Line
from ledger.importing.calc.amounts import (
    DecimalMark,
    Money,
    Unreadable,
    is_amount,
    negate,
    parse_amount,
    parse_money,
)
from ledger.importing.calc.currencies import choose_currency, find_named_currencies
from ledger.importing.calc.dates import looks_like_date, parse_date
from ledger.importing.calc.mapping import AMOUNT_FIELDS, Mapping, fold_value
from ledger.importing.calc.table import SAMPLE, Table
from ledger.importing.calc.vocabulary import find_line_kind


@dataclass(slots=True)
class Movement:
    """A row as it would be stored; ``amount`` is plain text with its sign, ``currency`` empty where none is told."""

    line: int
    day: date
    amount: str
    currency: str = ""
    pending: bool = False
    balance: Decimal | None = None


@dataclass(slots=True)
class BadCell:
    """Why a row cannot be read: the field, and why with its values."""

    line: int
    field: str
    error: Unreadable


@dataclass(slots=True)
class LeftOut:
    """A row that is no movement, with the reason: ``footer``, ``balance``, ``status``, ``account``, ``empty``."""

    line: int
    reason: str


Read = Movement | BadCell | LeftOut


@dataclass
class RowReader:
    """Reads rows by one mapping. ``own_currency`` is the account's."""

    table: Table
    mapping: Mapping
    own_currency: str
    fee_is_negative: bool = field(init=False, default=False)
    debit_is_negative: bool = field(init=False, default=False)
    credit_is_negative: bool = field(init=False, default=False)
    last_row: int = field(init=False, default=0)
    accounts: frozenset[str] = field(init=False, default=frozenset())
    needed: int = field(init=False, default=0)  # position of the last column without which a row says nothing

    def __post_init__(self) -> None:
        self.fee_is_negative = self._is_mostly_negative("fee")
        self.debit_is_negative = self._is_mostly_negative("debit")
        self.credit_is_negative = self._is_mostly_negative("credit")
        columns = self.mapping.columns
        amounts = [columns[name] for name in ("amount", "debit", "credit") if name in columns]
        self.needed = max(columns.get("date", 0), min(amounts, default=0))
        self.accounts = frozenset(fold_value(value) for value in self.mapping.accounts or ())
        self.last_row = next((line.number for line in reversed(self.table.rows) if self._has_day(line.cells)), 0)

    def _is_mostly_negative(self, name: str) -> bool:
        place = self.mapping.columns.get(name)
        if place is None:
            return False
        negative = positive = 0
        for line in self.table.rows:
            cells = line.cells
            if (
                place < len(cells)
                and (text := cells[place])
                and (amount := self._parse_or_none(text))
                and amount.strip("-0.")
            ):
                negative += amount.startswith("-")
                positive += not amount.startswith("-")
        return negative > positive

    def _parse_or_none(self, text: str) -> str | None:
        try:
            return parse_amount(text, self.mapping.decimal_mark)
        except Unreadable:
            return None

    def _has_day(self, cells: Sequence[str]) -> bool:
        place = self.mapping.columns.get("date")
        return place is not None and place < len(cells) and looks_like_date(cells[place])

    def cell(self, cells: Sequence[str], name: str) -> str:
        """What the row says in a field's column; nothing where it has none."""
        place = self.mapping.columns.get(name)
        return cells[place] if place is not None and place < len(cells) else ""

    def read_all(self, lines: Iterable[Line] | None = None) -> Iterator[Read]:
        """Yield what each row is. Signs that only the balance tells are taken from the row before or after."""
        lines = self.table.rows if lines is None else lines
        if self.mapping.sign_from_balance:
            yield from self._with_signs([self.read(line) for line in lines])
        else:
            for line in lines:
                yield self.read(line)

    def _with_signs(self, found: list[Read]) -> list[Read]:
        """The rows with the signs of the steps of their balances; one without a step is bad."""
        known = {place: row for place, row in enumerate(found) if isinstance(row, Movement)}
        balances = {place: row.balance for place, row in known.items() if row.balance is not None}
        amounts = {place: Decimal(row.amount) for place, row in known.items()}
        places = list(balances)
        best: dict[int, Decimal] = {}
        for ordered in (places, places[::-1]):
            steps = {}
            for before, place in pairwise(ordered):
                step = balances[place] - balances[before]
                if abs(step) == abs(amounts[place]):
                    steps[place] = step
            best = max(best, steps, key=len)
        why = "The balance does not show whether money came in or went out."
        signed: list[Read] = []
        for place, row in enumerate(found):
            if not isinstance(row, Movement) or not Decimal(row.amount):
                signed.append(row)
            elif place in best:
                signed.append(replace(row, amount=str(best[place])))
            else:
                signed.append(BadCell(row.line, "amount", Unreadable(why)))
        return signed

    def read(self, line: Line) -> Read:
        cells = line.cells
        if reason := self.reason_to_leave_out(line, cells):
            return LeftOut(line.number, reason)
        name = "row"
        try:
            if any(cells[self.table.width :]) or len(cells) <= self.needed:
                counts = {"count": str(len(cells)), "columns": str(self.table.width)}
                raise Unreadable("The row has {count} columns, the table {columns}.", **counts)
            name = "status"
            is_pending = self.read_status(cells) == "pending"
            name = "date"
            text = self.cell(cells, "date") or (self.cell(cells, "valueDate") if is_pending else "")
            if not text:
                raise Unreadable("The date is missing.")
            day = parse_date(text, self.mapping.date_order)
            name = "amount"
            amount, currencies = self.read_amount(cells)
            name = "currency"
            currency = self.read_currency(cells, currencies)
        except Unreadable as error:
            return BadCell(line.number, name, error)
        balance = self.read_balance(cells)
        if self.mapping.is_minor:
            decimals = count_decimals(currency or self.own_currency)
            amount = shift_decimals(amount, decimals)
            balance = balance.scaleb(-decimals) if balance is not None else None
        return Movement(line.number, day, amount, currency, is_pending, balance)

    def reason_to_leave_out(self, line: Line, cells: Sequence[str]) -> str:
        """Why a row is no movement; empty where it is one, or should be."""
        if reason := self._reason_of_values(line, cells):
            return reason
        day = self.cell(cells, "date")
        amounts = [text for name in AMOUNT_FIELDS if (text := self.cell(cells, name))]
        if not any(sign.isdigit() for sign in day):
            return self._reason_without_day(line, cells, day, amounts)
        if len(cells) <= self.needed:
            return ""
        if not amounts and not self._has_other_numbers(cells):
            return "balance" if self.cell(cells, "balance") else "empty"
        return "balance" if self._line_kind(cells) == "balance" else ""

    def _reason_of_values(self, line: Line, cells: Sequence[str]) -> str:
        mapping = self.mapping
        if mapping.accounts is not None:
            label = self.table.get_account_label(line, mapping.columns.get("account"))
            if fold_value(label) not in self.accounts:
                return "account"
        if "status" in mapping.columns and mapping.statuses.get(fold_value(self.cell(cells, "status"))) == "leaveOut":
            return "status"
        return ""

    def _reason_without_day(self, line: Line, cells: Sequence[str], day: str, amounts: Sequence[str]) -> str:
        """A row without a day is a footer or a sum, or it is bad: an amount is never left out for its missing day."""
        if not any(map(self._parse_or_none, amounts)):
            return "footer"
        if self._line_kind(cells):
            return "balance"
        return "footer" if line.number > self.last_row and (day or not self._has_words(cells)) else ""

    def _line_kind(self, cells: Sequence[str]) -> str | None:
        """What a text of the row names, a balance or a sum; with a day a sum is none, for sellers are called Total."""
        return next((kind for cell in cells if cell[:1].isalpha() and (kind := find_line_kind(cell))), None)

    def _has_words(self, cells: Sequence[str]) -> bool:
        return any(any(sign.isalpha() for sign in cell) for cell in cells)

    def _has_other_numbers(self, cells: Sequence[str]) -> bool:
        taken = set(self.mapping.columns.values())
        return any(
            cell and place not in taken and ("." in cell or "," in cell) and is_amount(cell, self.mapping.decimal_mark)
            for place, cell in enumerate(cells)
        )

    def read_amount(self, cells: Sequence[str]) -> tuple[str, tuple[str, ...]]:
        """(the amount with its sign, the currencies that its cell may mean). Raises Unreadable."""
        mapping, mark = self.mapping, self.mapping.decimal_mark
        if "amount" in mapping.columns:
            text = self.cell(cells, "amount")
            if not text:
                raise Unreadable("The amount is missing.")
            amount, currencies = parse_money(text, mark)
            if "direction" in mapping.columns and amount.strip("-0."):
                amount = self._directed(amount, self.cell(cells, "direction"))
        else:
            amount, currencies = self._from_pair(cells, mark)
        if mapping.flip_sign:
            amount = negate(amount)
        fee = self.cell(cells, "fee")
        if fee and (charged := parse_amount(fee, mark)).strip("-0."):
            amount = str(Decimal(amount) + (1 if self.fee_is_negative else -1) * Decimal(charged))
        return amount, currencies

    def _directed(self, amount: str, value: str) -> str:
        kind = self.mapping.directions.get(fold_value(value))
        if kind is None:
            raise Unreadable("“{text}” is no direction that means in or out.", text=value[:40])
        return negate(amount) if kind == "out" else amount

    def _from_pair(self, cells: Sequence[str], mark: DecimalMark) -> tuple[str, tuple[str, ...]]:
        out, came = self.cell(cells, "debit"), self.cell(cells, "credit")
        if not out and not came:
            raise Unreadable("The amount is missing.")
        spent, got = (parse_money(text, mark) if text else None for text in (out, came))
        if spent and got and spent.amount.strip("-0.") and got.amount.strip("-0."):
            raise Unreadable("Both the debit and the credit column are filled.")
        if got and (got.amount.strip("-0.") or spent is None):
            return (negate(got.amount) if self.credit_is_negative else got.amount), got.currencies
        spent = spent or Money("0")
        return (spent.amount if self.debit_is_negative else negate(spent.amount)), spent.currencies

    def read_currency(self, cells: Sequence[str], currencies: tuple[str, ...]) -> str:
        """The currency that the row tells; empty where it tells none. Raises Unreadable."""
        text = self.cell(cells, "currency")
        named = find_named_currencies(text) if text else ()
        if text and not named:
            raise Unreadable("“{text}” is no currency.", text=text[:40])
        if named and currencies and not set(named) & set(currencies):
            raise Unreadable("“{text}” is another currency than its amount's.", text=text[:40])
        candidates = tuple(each for each in named if not currencies or each in currencies) or currencies
        if not candidates:
            if "currency" in self.mapping.columns and self.has_other_currencies:
                raise Unreadable("The currency is missing.")
            return self.mapping.currency
        currency = choose_currency(candidates, own=self.own_currency, told=self.mapping.currency)
        if currency is None:
            raise Unreadable(
                "“{text}” may be several currencies: choose one.", text=(text or "/".join(candidates))[:40]
            )
        return currency

    @cached_property
    def has_other_currencies(self) -> bool:
        """Whether the column of currencies has others than the account's: a row without one may be in any then."""
        values = {self.cell(line.cells, "currency") for line in self.table.rows[:SAMPLE]}
        return any(self.own_currency not in find_named_currencies(value) for value in values if value)

    def read_status(self, cells: Sequence[str]) -> str:
        if "status" not in self.mapping.columns:
            return "booked"
        value = self.cell(cells, "status")
        kind = self.mapping.statuses.get(fold_value(value))
        if kind is None:
            raise Unreadable("“{text}” is no status that is known.", text=value[:40])
        return kind

    def read_balance(self, cells: Sequence[str]) -> Decimal | None:
        text = self.cell(cells, "balance")
        amount = self._parse_or_none(text) if text else None
        return Decimal(amount) if amount is not None else None


def count_decimals(currency: str) -> int:
    """The decimals of a currency, two of those that the ledger does not have."""
    return minor_units(currency) if currency in CURRENCIES else 2


def shift_decimals(amount: str, decimals: int) -> str:
    """An amount of cents as one of whole units.

    >>> shift_decimals("-1250", 2), shift_decimals("5", 0)
    ('-12.50', '5')
    """
    return format(Decimal(amount).scaleb(-decimals), "f")


@dataclass(frozen=True, slots=True)
class Balances:
    """What the balance column says of the whole table, where every step agrees with its row."""

    opening: Decimal
    closing: Decimal
    oldest_first: bool


@dataclass(slots=True)
class BalanceRun:
    """Holds each row's balance against the one before, row by row, so that no row need be kept.

    ``forward``: whether the rows may be in the order of time; ``backward``: whether the latest may come first.
    """

    first: Movement | None = None
    last: Movement | None = None
    first_day: date = date.max
    count: int = 0
    forward: bool = True
    backward: bool = True
    currencies: set[str] = field(default_factory=set)
    moves_behind_first: bool = False
    moves_before_last: bool = False

    def add(self, row: Movement) -> None:
        """Take the next row of the file."""
        self.currencies.add(row.currency)
        self.first_day = min(self.first_day, row.day)
        if row.pending:
            return
        before, self.last = self.last, row
        self.count += 1
        if row.balance is None:
            self.forward = self.backward = False
        if before is None or before.balance is None or row.balance is None:
            self.first = self.first or row
            return
        amount, amount_before = Decimal(row.amount), Decimal(before.amount)
        step = row.balance - before.balance
        self.forward = self.forward and step == amount and row.day >= before.day
        self.backward = self.backward and step == -amount_before and row.day <= before.day
        self.moves_behind_first = self.moves_behind_first or bool(amount)
        self.moves_before_last = self.moves_before_last or bool(amount_before)

    def find_balances(self) -> Balances | None:
        """Return the balances before and after all rows; None where a step does not agree, or one row has none.

        One row alone proves nothing.
        """
        first, last = self.first, self.last
        if self.count < 2 or len(self.currencies) > 1 or first is None or last is None:
            return None
        if first.balance is None or last.balance is None:
            return None
        if self.forward and self.moves_behind_first:
            return Balances(first.balance - Decimal(first.amount), last.balance, oldest_first=True)
        if self.backward and self.moves_before_last:
            return Balances(last.balance - Decimal(last.amount), first.balance, oldest_first=False)
        return None
