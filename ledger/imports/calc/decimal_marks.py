"""Which decimal marks the amounts of columns allow, with the decimals that their currencies have."""

from collections.abc import Iterable, Sequence

from ledger.calc.delimited_text import NumberText
from ledger.imports.calc.amounts import DecimalMark, find_decimal_marks, is_amount_text
from ledger.imports.calc.columns import MONEY_FIELDS, Column, parse_amount_or_none
from ledger.imports.calc.currencies import count_currency_decimals, find_named_currencies


def has_excess_decimals(amount: str, decimals: int) -> bool:
    """Whether an amount has more decimals than its currency; zeros behind them do not count.

    >>> has_excess_decimals("-1.234", 2), has_excess_decimals("5.000", 2), has_excess_decimals("1.234", 3)
    (True, False, False)
    """
    return len(amount.partition(".")[2].rstrip("0")) > decimals


def find_decimal_marks_of_columns(columns: Sequence[Column]) -> list[DecimalMark]:
    """The decimal marks that the columns of money allow; where both are left, those that all number columns allow."""
    numbers = [column for column in columns if column.is_number]
    money = [column for column in numbers if any(name in MONEY_FIELDS for name, _ in column.fields)]
    for columns_to_read in (money, numbers):
        texts = [text for column in columns_to_read for text in column.distinct if has_decimal_mark(text)]
        marks = list(find_decimal_marks(texts))
        if texts and (len(marks) == 1 or all(map(_is_unambiguous, texts))):
            return marks[:1]
    return marks if texts else marks[:1]


def has_decimal_mark(text: str) -> bool:
    """Whether a text has what may be a decimal mark; a spreadsheet's own numbers need none."""
    return ("." in text or "," in text) and type(text) is not NumberText


def _is_unambiguous(text: str) -> bool:
    """Whether both marks read the text as the same amount."""
    return not is_amount_text(text, DecimalMark.POINT) or parse_amount_or_none(
        text, DecimalMark.POINT
    ) == parse_amount_or_none(text, DecimalMark.COMMA)


def fits_decimal_mark(columns: Sequence[Column], decimal_mark: DecimalMark, decimals: int) -> bool:
    """Whether no other mark reads more amounts, and all that this one reads can be stored."""
    texts = _list_marked_texts(columns)
    return decimal_mark in find_decimal_marks(texts) and not _has_unstorable_amount(texts, decimal_mark, decimals)


def drop_unstorable_marks(marks: Sequence[DecimalMark], columns: Sequence[Column], decimals: int) -> list[DecimalMark]:
    """Return the marks with which all amounts can be stored; all of them where there is none."""
    texts = _list_marked_texts(columns)
    storable = [mark for mark in marks if not _has_unstorable_amount(texts, mark, decimals)]
    return storable or list(marks)


def count_most_decimals(
    columns: Iterable[Column], currencies: Iterable[str], currency_columns: Iterable[Column]
) -> int:
    """Return the most decimals of the currencies that amounts may be in: those given, and those that headings, signs
    beside the amounts or columns of currencies name."""
    known = set(currencies)
    for column in columns:
        known.update(column.heading_currencies)
        known |= column.sign_currencies
    known.update(
        code for column in currency_columns for text in column.distinct for code in find_named_currencies(text)
    )
    return max(map(count_currency_decimals, known), default=2)


def _list_marked_texts(columns: Sequence[Column]) -> list[str]:
    return [text for column in columns for text in column.distinct if has_decimal_mark(text)]


def _has_unstorable_amount(texts: Sequence[str], decimal_mark: DecimalMark, decimals: int) -> bool:
    return any(has_excess_decimals(parse_amount_or_none(text, decimal_mark) or "", decimals) for text in texts)
