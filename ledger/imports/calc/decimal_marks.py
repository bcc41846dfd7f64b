"""Which decimal marks the amounts of columns allow, with the decimals that their currencies have."""

from collections.abc import Iterable, Sequence

from ledger.imports.calc.amounts import DecimalMark, UnreadableValueError, find_decimal_marks, parse_bank_money
from ledger.imports.calc.columns import Column, has_decimal_mark, parse_amount_or_none
from ledger.imports.calc.currencies import count_currency_decimals, find_named_currencies


def has_excess_decimals(amount: str, decimals: int) -> bool:
    """Whether an amount has more decimals than its currency; zeros behind them do not count.

    >>> has_excess_decimals("-1.234", 2), has_excess_decimals("5.000", 2), has_excess_decimals("1.234", 3)
    (True, False, False)
    """
    return len(amount.partition(".")[2].rstrip("0")) > decimals


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
        known.update(code for text in column.distinct for code in _find_sign_currencies(text))
    known.update(
        code for column in currency_columns for text in column.distinct for code in find_named_currencies(text)
    )
    return max(map(count_currency_decimals, known), default=2)


def _find_sign_currencies(text: str) -> tuple[str, ...]:
    for mark in DecimalMark:
        try:
            return parse_bank_money(text, mark).currencies
        except UnreadableValueError:
            continue
    return ()


def _list_marked_texts(columns: Sequence[Column]) -> list[str]:
    return [text for column in columns for text in column.distinct if has_decimal_mark(text)]


def _has_unstorable_amount(texts: Sequence[str], decimal_mark: DecimalMark, decimals: int) -> bool:
    return any(has_excess_decimals(parse_amount_or_none(text, decimal_mark) or "", decimals) for text in texts)
