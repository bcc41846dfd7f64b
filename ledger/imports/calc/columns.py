"""What the cells of each column are: dates, amounts, currencies or words. Headings propose, cells veto."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from functools import cached_property
from itertools import pairwise

from ledger.calc.delimited_text import Line, Lines
from ledger.imports.calc.amounts import (
    DecimalMark,
    UnreadableValueError,
    find_amount_sign,
    parse_bank_amount,
    parse_bank_money,
)
from ledger.imports.calc.balance_lines import find_balance_line_kind
from ledger.imports.calc.column_mapping import AMOUNT_FIELDS, MAX_VALUES, fold_setting_value
from ledger.imports.calc.currencies import find_heading_currencies, find_named_currencies, is_currency_code
from ledger.imports.calc.dates import is_date_like, is_date_text
from ledger.imports.calc.headings import find_heading_fields
from ledger.imports.calc.table import SAMPLE_ROWS, Table, is_number_text
from ledger.imports.calc.vocabulary import find_balance_name_kind
from ledger.money.calc.money import CURRENCIES

MIN_SHARE = 0.8  # the share of a column's cells that must be dates, or amounts, to take it for one
MIN_SHARE_NAMED = 0.5  # where the heading says so
DATE_FIELDS = {"date", "valueDate"}
MAX_CELLS = 60_000  # looked at in all columns together
MONEY_FIELDS = {"amount", "debit", "credit", "balance", "balanceBefore", "fee", "net", "gross"}
NUMBER_FIELDS = MONEY_FIELDS | {"tax", "number"}
MAX_STATUSES, MAX_DIRECTIONS = 12, 6
MAX_AMOUNT_LETTERS = 4  # of a currency, and one in place of a digit
LONGEST_CURRENCY = 30  # characters of a currency's name in a column of its own


@dataclass
class Column:
    """One column of a table's sample; ``cells`` has a value for each row, empty where a row is shorter."""

    position: int
    name: str
    cells: list[str] = field(repr=False)
    balance_rows: frozenset[int] = frozenset()  # rows that name a balance or a sum: only their balances say anything
    known_amounts: dict[DecimalMark, list[str | None]] = field(default_factory=dict, repr=False)

    @cached_property
    def filled(self) -> list[str]:
        return [cell for row, cell in enumerate(self.cells) if cell and row not in self.balance_rows]

    @cached_property
    def distinct(self) -> Counter[str]:
        return Counter(self.filled)

    @cached_property
    def fields(self) -> list[tuple[str, int]]:
        return list(find_heading_fields(self.name)) if self.name else []

    @cached_property
    def heading_currencies(self) -> tuple[str, ...]:
        """The currencies that the heading may name; none where it names none."""
        return find_heading_currencies(self.name)

    @cached_property
    def is_named(self) -> bool:
        """Whether the heading names dates or amounts; then fewer cells need to be some."""
        return any(
            sure > 1 and (name in NUMBER_FIELDS - {"number"} or name in DATE_FIELDS) for name, sure in self.fields
        )

    @cached_property
    def is_date(self) -> bool:
        return self._is_true_of_most(is_date_like_cell)

    @cached_property
    def is_number(self) -> bool:
        return not self.is_date_only and self._is_true_of_most(is_number_text)

    @cached_property
    def is_date_only(self) -> bool:
        """Whether the cells are dates and no amounts: 20240131 may be either, and a heading decides."""
        return self.is_date and not all(text.isdigit() for text in self.distinct)

    @cached_property
    def has_garbled_amounts(self) -> bool:
        """Whether a heading names money out or in, and the cells are amounts or would be but for a wrong sign: the
        rows are refused then, not left out."""
        is_one_sided = bool(self.fields) and self.fields[0][0] in ("debit", "credit") and self.fields[0][1] > 1
        return is_one_sided and not self.is_date and self._is_true_of_most(is_like_amount)

    @cached_property
    def is_currency(self) -> bool:
        """Whether the cells are codes or signs of currencies; single ones may be unknown words such as n/a or BTC."""
        if not self.filled or len(self.distinct) > MAX_VALUES:
            return False
        known = sum(count for text, count in self.distinct.items() if is_currency_code(text))
        is_like = any(text in CURRENCIES for text in self.distinct) and all(map(is_like_code, self.distinct))
        return 2 * known >= len(self.filled) or is_like

    @cached_property
    def may_be_currency(self) -> bool:
        """Whether the cells may be currencies where the heading says so, with unknown words among them."""
        if self.is_date or len(self.distinct) > MAX_VALUES or max(map(len, self.filled)) > LONGEST_CURRENCY:
            return False
        known = [text for text in self.distinct if find_named_currencies(text)]
        if self.is_number:
            return len(known) == len(self.distinct)
        return bool(known) or ("currency", 3) in self.fields

    @cached_property
    def has_decimals(self) -> bool:
        return any(len(cell) > 2 and cell[-3:-2] in (".", ",") for cell in self.distinct)

    @cached_property
    def is_count(self) -> bool:
        """Whether the cells are consecutive or long whole numbers, which amounts are not."""
        texts = self.filled
        if not texts or not all(text.isdigit() for text in texts):
            return False
        numbers = [int(text) for text in texts]
        steps = {b - a for a, b in pairwise(numbers)}
        return (
            steps in ({1}, {-1})
            or min(map(len, texts)) > 7
            or any(text.startswith("0") and len(text) > 1 for text in texts)
        )

    @cached_property
    def is_text(self) -> bool:
        return not self.is_number and not self.is_date and not self.is_currency and self._is_true_of_most(has_letters)

    @cached_property
    def rows_with_amount(self) -> int:
        """The rows of movements with an amount other than zero, one bit each: columns are compared in one operation."""
        return pack_bits(row not in self.balance_rows and not is_zero_cell(cell) for row, cell in enumerate(self.cells))

    @cached_property
    def filled_rows(self) -> int:
        """The rows whose cell is not empty, one bit each."""
        return pack_bits(map(bool, self.cells))

    @cached_property
    def has_minus(self) -> bool:
        """Whether a cell has a minus, that of a zero and one alone too."""
        return any(find_amount_sign(text) == "-" for text in self.distinct)

    @cached_property
    def sign_currencies(self) -> frozenset[str]:
        """The currencies that words and signs beside the amounts may mean."""
        return frozenset(code for text in self.distinct for code in find_sign_currencies(text))

    @cached_property
    def amount_signs(self) -> frozenset[str]:
        """The signs of amounts other than zero, empty for one without a sign."""
        return frozenset(find_amount_sign(text) for text in self.distinct if not is_zero_cell(text))

    def _is_true_of_most(self, test: Callable[[str], bool]) -> bool:
        total = sum(self.distinct.values())
        min_share = MIN_SHARE_NAMED if self.is_named else MIN_SHARE
        return total > 0 and sum(count for text, count in self.distinct.items() if test(text)) >= min_share * total

    def balances(self, decimal_mark: DecimalMark) -> list[str | None]:
        """Each cell as an amount, None where it is none."""
        if decimal_mark not in self.known_amounts:
            self.known_amounts[decimal_mark] = [
                parse_amount_or_none(cell, decimal_mark) if cell else None for cell in self.cells
            ]
        return self.known_amounts[decimal_mark]

    def amounts(self, decimal_mark: DecimalMark) -> list[str | None]:
        """The same of movements alone: None in rows that name a balance or a sum."""
        amounts = self.balances(decimal_mark)
        return [None if row in self.balance_rows else amount for row, amount in enumerate(amounts)]

    @cached_property
    def values(self) -> list[str]:
        """The distinct values, ignoring case."""
        return list(dict.fromkeys(fold_setting_value(text) for text in self.distinct))

    def fits_field(self, name: str) -> bool:
        """Whether the cells fit the field that a heading names."""
        if not self.filled:
            return name not in DATE_FIELDS
        if name in DATE_FIELDS:
            return self.is_date
        if name in NUMBER_FIELDS:
            return self.is_number or (name in ("debit", "credit") and self.has_garbled_amounts)
        others = {"original": self.is_number or self.is_currency, "currency": self.may_be_currency}
        others |= {"direction": self.is_plain and len(self.values) <= MAX_DIRECTIONS and not self.is_currency}
        others |= {"status": self.is_plain and len(self.values) <= MAX_STATUSES}
        others |= {"account": not self.is_date and len(self.values) <= MAX_VALUES and not self.has_decimals}
        others |= dict.fromkeys(("reference", "counterpartyAccount"), not self.is_date_only)
        return others.get(name, not self.is_date_only and not (self.has_decimals and self.is_number))

    @property
    def is_plain(self) -> bool:
        return not self.is_number and not self.is_date


def is_like_code(text: str) -> bool:
    """Whether a text is written as a code of a currency, or says that there is none."""
    return (3 <= len(text) <= 4 and text.isalpha() and text.isupper()) or text.casefold() in (
        "n/a",
        "na",
        "none",
        "-",
        "?",
    )


def is_like_amount(text: str) -> bool:
    """Whether a text has digits and hardly a letter, even if it is no amount.

    >>> is_like_amount("5.5.5"), is_like_amount("1O.00 EUR"), is_like_amount("Invoice 12"), is_like_amount("-")
    (True, True, False, False)
    """
    letters = sum(sign.isalpha() for sign in text)
    return letters <= MAX_AMOUNT_LETTERS and any(sign.isdigit() for sign in text)


def has_letters(text: str) -> bool:
    return any(sign.isalpha() for sign in text)


def is_date_like_cell(text: str) -> bool:
    """Whether a cell is written as a date, even one that does not exist; digits alone must be an existing one."""
    return is_date_text(text) if text.isdigit() else is_date_like(text)


def parse_amount_or_none(text: str, decimal_mark: DecimalMark) -> str | None:
    try:
        return parse_bank_amount(text, decimal_mark)
    except UnreadableValueError:
        return None


def find_sign_currencies(text: str) -> tuple[str, ...]:
    """Return the currencies that words and signs beside an amount may mean; none for a text that is no amount."""
    for mark in DecimalMark:
        try:
            return parse_bank_money(text, mark).currencies
        except UnreadableValueError:
            continue
    return ()


def select_sample_rows(table: Table) -> Lines:
    """The first rows of a table, fewer of a very wide one; rows with little in them say nothing."""
    max_rows = max(20, min(SAMPLE_ROWS, MAX_CELLS // max(table.width, 1)))
    rows = [(position, line.cells) for position, line in enumerate(table.rows[:max_rows])]
    usual = sorted(sum(map(bool, cells)) for _, cells in rows)[len(rows) // 2] if rows else 0
    full = [row for row in rows if 2 * sum(map(bool, row[1])) > usual or len(rows) < 3]
    dated = [row for row in full if any(map(is_date_like_cell, row[1]))]
    full = dated if dated and 2 * len(dated) >= len(full) else full  # footers and sums have no day
    return table.rows.select_lines(position for position, _ in full)


def build_table_columns(table: Table, sample: Sequence[Line]) -> list[Column]:
    """The columns of a table's sample."""
    rows = [line.cells for line in sample]
    constants = find_constant_positions(rows)
    balance_rows = frozenset(
        row
        for row, cells in enumerate(rows)
        if is_balance_or_total_row(cells, constants) and not has_amount_of_balance_step(rows, row)
    )
    balance_rows = frozenset() if len(balance_rows) == len(rows) else balance_rows
    return [
        Column(
            position,
            table.names[position],
            [cells[position] if position < len(cells) else "" for cells in rows],
            balance_rows,
        )
        for position in range(table.width)
    ]


def has_amount_of_balance_step(rows: Sequence[Sequence[str]], row: int) -> bool:
    """Whether a cell of a row says by how much another one differs from that of a neighbour: it moves a balance."""
    for mark in DecimalMark:
        numbers = read_numbers(rows[row], mark)
        for neighbour in (row - 1, row + 1):
            if not 0 <= neighbour < len(rows):
                continue
            others = read_numbers(rows[neighbour], mark)
            steps = {place: abs(numbers[place] - others[place]) for place in numbers.keys() & others.keys()}
            counts = Counter(steps.values())
            if any(
                number and counts[abs(number)] > (steps.get(place) == abs(number)) for place, number in numbers.items()
            ):
                return True
    return False


def read_numbers(cells: Sequence[str], mark: DecimalMark) -> dict[int, Decimal]:
    """Return the amounts of a row by their positions."""
    amounts = {position: parse_amount_or_none(cell, mark) for position, cell in enumerate(cells) if cell}
    return {position: Decimal(amount) for position, amount in amounts.items() if amount is not None}


def find_possible_amounts(table: Table) -> frozenset[int]:
    """Return the positions of columns that may have amounts, by their cells and their headings or without one."""
    rows = [line.cells for line in table.rows[:SAMPLE_ROWS]]
    columns = (
        Column(position, name, [cells[position] if position < len(cells) else "" for cells in rows])
        for position, name in enumerate(table.names)
    )
    return frozenset(
        column.position
        for column in columns
        if (not column.fields or column.fields[0][0] in AMOUNT_FIELDS)
        and (column.is_number or column.has_garbled_amounts)
        and not column.is_count
    )


def find_constant_positions(rows: Sequence[Sequence[str]]) -> frozenset[int]:
    """The positions at which all rows say the same."""
    if len(rows) < 2:
        return frozenset()
    return frozenset(
        position
        for position, text in enumerate(rows[0])
        if all(position < len(cells) and cells[position] == text for cells in rows)
    )


def is_balance_or_total_row(cells: Sequence[str], constants: Collection[int]) -> bool:
    """Whether the words of a row name a balance or a sum, beside what all rows say, and no firm either."""
    if not any(map(find_balance_name_kind, cells)):
        return False
    texts = [cell for position, cell in enumerate(cells) if position not in constants and has_letters(cell)]
    kind = find_balance_line_kind(
        [text for text in texts if not find_named_currencies(text) and not is_date_like_cell(text)]
    )
    return kind not in ("", "name")


def find_column_roles(columns: Sequence[Column]) -> dict[str, list[Column]]:
    """Return the columns by the field that their heading names and their cells allow, the most certain first."""
    roles: dict[str, list[tuple[int, Column]]] = {}
    for column in columns:
        for name, certainty in column.fields:
            if column.fits_field(name):
                roles.setdefault(name, []).append((-certainty, column))
                break
    return {name: [column for _, column in sorted(ranked, key=lambda pair: pair[0])] for name, ranked in roles.items()}


def has_complementary_amounts(first: Column, second: Column, *, min_share: float = 0.8) -> bool:
    """Whether in each row one of two amount columns has an amount and the other is empty or zero."""
    count = len(first.cells) - len(first.balance_rows)
    complementary_count = (first.rows_with_amount ^ second.rows_with_amount).bit_count()
    both_filled_count = (first.rows_with_amount & second.rows_with_amount).bit_count()
    return count > 0 and complementary_count >= min_share * count and (both_filled_count == 0 or min_share < 0.8)


def pack_bits(flags: Iterable[bool]) -> int:
    """Return flags as the bits of a number.

    >>> bin(pack_bits([True, False, True]))
    '0b101'
    """
    return int("0" + "".join("1" if flag else "0" for flag in flags), 2)


def is_zero_cell(text: str) -> bool:
    """Whether a cell has no amount in it.

    >>> is_zero_cell(""), is_zero_cell("0,00 EUR"), is_zero_cell("-"), is_zero_cell("10.00")
    (True, True, True, False)
    """
    return not any(sign.isdigit() and sign != "0" for sign in text)


def format_column_letters(number: int) -> str:
    """Return the spreadsheet letters of a column: A, B, … Z, AA, AB …

    >>> format_column_letters(0), format_column_letters(25), format_column_letters(26)
    ('A', 'Z', 'AA')
    """
    text = ""
    number += 1
    while number:
        number, remainder = divmod(number - 1, 26)
        text = chr(65 + remainder) + text
    return text
