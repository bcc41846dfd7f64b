"""Parse amounts as banks write them into the plain form that the ledger takes, with their currency.

Nothing is guessed: text that does not fit the chosen decimal mark is rejected.
"""

import re
from collections.abc import Collection, Iterable
from enum import StrEnum
from typing import NamedTuple

from ledger.calc.delimited_text import NumberText
from ledger.imports.calc.currencies import find_currencies

MAX_DIGITS = 15  # before the decimal mark, as the ledger stores them
MAX_LENGTH = 60  # characters of an amount or a date with its time; patterns try much on longer ones
MAX_MONEY_DECIMALS = 2  # more than most currencies have are a group of thousands that was misread


class UnreadableValueError(ValueError):
    """The text is no amount or no date of the chosen kind: ``message`` says why, with ``values`` in its braces."""

    def __init__(self, message: str, **values: str):
        self.message, self.values = message, values
        super().__init__(message.format(**values))


class DecimalMark(StrEnum):
    """The sign before the decimals."""

    POINT = "point"
    COMMA = "comma"


class BankAmount(NamedTuple):
    """An amount as plain text such as -1234.56, and the currencies its sign may mean; empty if it has none."""

    amount: str
    currencies: tuple[str, ...] = ()


_SAME = str.maketrans({"\u2212": "-", "\u2013": "-", "\u00a0": " ", "\u202f": " ", "\u2009": " ", "\u2019": "'"})
_WORD = r"[A-Za-z]{0,2}[$€£¥₩₪₹฿₺₱₽₴₫₦₸₼₾]|[^\W\d_]{1,5}\.?"
_TEXT = re.compile(
    rf"(?P<open>\()?\s*+(?P<before>[+-])?\s*+(?P<front>{_WORD})?\s*+(?P<between>[+-])?\s*+(?P<inner_open>\()?\s*+"
    rf"(?P<number>[0-9](?:[0-9.,' ]*[0-9.,])?|[.,][0-9]+)"
    rf"\s*+(?P<inner_close>\))?\s*+(?P<behind>[+-])?\s*+(?P<back>{_WORD})?\s*+(?P<last>{_WORD})?\s*+(?P<close>\))?"
)


def _number(group: str, decimal_mark: str) -> re.Pattern[str]:
    """A number without its sign: plain, in groups of three, or as in India. No group begins with a zero."""
    return re.compile(
        rf"(?P<whole>[1-9][0-9]{{0,2}}(?P<by3>[{group}' ])[0-9]{{3}}(?:(?P=by3)[0-9]{{3}})*"
        rf"|[1-9][0-9]?(?P<by2>[{group}' ])[0-9]{{2}}(?:(?P=by2)[0-9]{{2}})*(?P=by2)[0-9]{{3}}"
        rf"|[0-9]*)(?:{re.escape(decimal_mark)}(?P<cents>[0-9]*))?"
    )


_NUMBERS = {DecimalMark.POINT: _number(",", "."), DecimalMark.COMMA: _number(r"\.", ",")}
_PLAIN = re.compile(r"-?[1-9][0-9]{0,14}(?:\.[0-9]{1,2})?")
_OWN_NUMBER = re.compile(r"(-?)([^0-9]*)([0-9]+(?:\.[0-9]+)?)")
_USUAL = {  # as most amounts are written, which are read at once
    DecimalMark.POINT: re.compile(r"-?[1-9][0-9]{0,2}(?:,[0-9]{3}){0,4}\.[0-9]{2}"),
    DecimalMark.COMMA: re.compile(r"-?(?:[1-9][0-9]{0,2}(?:\.[0-9]{3}){0,4}|[1-9][0-9]{0,14}),[0-9]{2}"),
}
BRACKET_GROUPS = (("open", "inner_open"), ("inner_close", "close"))  # around all of it, or its number alone
_LIKE_AMOUNT = re.compile(r"[^0-9]{0,12}[0-9][0-9.,'\u2019\s]*[^0-9]{0,16}")
OUT_MARKS = {"dr", "db", "d", "s", "dt", "deb"}
IN_MARKS = {"cr", "c", "h", "kt", "cred", "k"}


def parse_bank_amount(text: str, decimal_mark: DecimalMark) -> str:
    """Return an amount as the ledger takes it, such as -1234.56.

    Raises:
        UnreadableValueError: the text is no amount with this mark.

    >>> parse_bank_amount("1,234.50", DecimalMark.POINT), parse_bank_amount("-1.234,50 €", DecimalMark.COMMA)
    ('1234.50', '-1234.50')
    >>> parse_bank_amount("(12.00)", DecimalMark.POINT), parse_bank_amount("12,00 Dr", DecimalMark.COMMA)
    ('-12.00', '-12.00')
    >>> parse_bank_amount("(12.00) EUR", DecimalMark.POINT), parse_bank_amount("$(12.00)", DecimalMark.POINT)
    ('-12.00', '-12.00')
    """
    if decimal_mark is DecimalMark.POINT and type(text) is str and _PLAIN.fullmatch(text):
        return text
    return parse_bank_money(text, decimal_mark).amount


def parse_bank_money(text: str, decimal_mark: DecimalMark) -> BankAmount:
    """Return an amount with the currency beside it. Raises UnreadableValueError.

    >>> parse_bank_money("-7,00 GBP", DecimalMark.COMMA)
    BankAmount(amount='-7.00', currencies=('GBP',))
    >>> parse_bank_money("$7.00", DecimalMark.POINT).currencies[0]
    'USD'
    """
    if type(text) is NumberText:
        return read_spreadsheet_number(text)
    if _USUAL[decimal_mark].fullmatch(text):
        plain = text.replace(",", "") if decimal_mark is DecimalMark.POINT else text.replace(".", "").replace(",", ".")
        return BankAmount(plain)
    match = _TEXT.fullmatch(text.translate(_SAME).strip()) if len(text) <= MAX_LENGTH else None
    number = _NUMBERS[decimal_mark].fullmatch(match["number"]) if match else None
    if match is None or number is None:
        if decimal_mark is DecimalMark.POINT:
            raise UnreadableValueError("“{text}” is not an amount with a decimal point.", text=text[:40])
        raise UnreadableValueError("“{text}” is not an amount with a decimal comma.", text=text[:40])
    signs = [sign for sign in match.group("before", "between", "behind") if sign]
    currencies, marked = _read_words(match, text)
    integer_part, cents = re.sub(r"[^0-9]", "", number["whole"]), number["cents"] or ""
    opened, closed = ([part for part in match.group(*names) if part] for names in BRACKET_GROUPS)
    if not (integer_part or cents) or len(signs) + len(opened) + bool(marked) > 1 or len(opened) != len(closed):
        raise UnreadableValueError("“{text}” is not a valid amount.", text=text[:40])
    integer_part = integer_part.lstrip("0")
    if len(integer_part) > MAX_DIGITS:
        raise build_amount_too_large_error(text)
    amount = (integer_part or "0") + (f".{cents}" if cents else "")
    negative = (opened or "-" in signs or marked == "-") and amount.strip("0.")
    return BankAmount(f"-{amount}" if negative else amount, currencies)


def build_amount_too_large_error(text: str) -> UnreadableValueError:
    return UnreadableValueError(
        "“{text}” is too large. Amounts have at most 15 digits before the decimal mark.", text=text[:40]
    )


def read_spreadsheet_number(text: str) -> BankAmount:
    """Return a spreadsheet's own number, which no decimal mark changes. Raises Unreadable.

    >>> read_spreadsheet_number("-€1.234"), read_spreadsheet_number("1000")
    (BankAmount(amount='-1.234', currencies=('EUR',)), BankAmount(amount='1000', currencies=()))
    """
    minus, sign, number = _OWN_NUMBER.fullmatch(text).groups()  # type: ignore[union-attr] # written by ourselves
    if len(number.partition(".")[0]) > MAX_DIGITS:
        raise build_amount_too_large_error(text)
    return BankAmount(minus + number, find_currencies(sign.strip()))


def _read_words(match: re.Match[str], text: str) -> tuple[tuple[str, ...], str]:
    """(the currencies, the sign that Dr or Cr means) of the words beside a number. Raises UnreadableValueError for
    others.
    """
    currencies: tuple[str, ...] = ()
    direction_sign = ""
    for word in filter(None, match.group("front", "back", "last")):
        plain = word.casefold().rstrip(".")
        is_number_of_something = word == match["front"] and len(plain) == 1 and plain.isascii() and plain.isalpha()
        if word == "k" and f"{match['number'][-1]}k" in text:  # thousands
            raise UnreadableValueError("“{text}” is not a valid amount.", text=text[:40])
        if not direction_sign and plain in OUT_MARKS | IN_MARKS and not is_number_of_something:
            direction_sign = "-" if plain in OUT_MARKS else "+"
        elif not currencies and not is_number_of_something and (word_currencies := find_currencies(word)):
            currencies = word_currencies
        else:
            raise UnreadableValueError("“{text}” is not a valid amount.", text=text[:40])
    return currencies, direction_sign


def find_amount_sign(text: str) -> str:
    """``-`` or ``+`` where the text says its direction by itself, with a sign, brackets, or Dr and Cr; else nothing.

    >>> find_amount_sign("(12.00)"), find_amount_sign("12.00 Cr"), find_amount_sign("EUR 12.00")
    ('-', '+', '')
    """
    plain = text.translate(_SAME)
    if "-" in plain or "(" in plain:
        return "-"
    if "+" in plain:
        return "+"
    match = _TEXT.fullmatch(plain.strip()) if len(text) <= MAX_LENGTH else None
    words = [word.casefold().rstrip(".") for word in match.group("front", "back", "last") if word] if match else []
    return next(("-" if word in OUT_MARKS else "+" for word in words if word in OUT_MARKS | IN_MARKS), "")


def negate_amount(amount: str) -> str:
    """Return the amount with the other sign; zero stays as it is.

    >>> negate_amount("12.50"), negate_amount("-3"), negate_amount("0.00")
    ('-12.50', '3', '0.00')
    """
    if amount.startswith("-"):
        return amount[1:]
    return f"-{amount}" if amount.strip("0.") else amount


def trim_trailing_zeros(amount: str, decimals: int) -> str:
    """Return the amount without zeros beyond the decimals of its currency.

    >>> trim_trailing_zeros("-7.5000", 2), trim_trailing_zeros("500.00", 0), trim_trailing_zeros("1.2345", 2)
    ('-7.50', '500', '1.2345')
    """
    integer_part, _, cents = amount.partition(".")
    if len(cents) <= decimals or cents[decimals:].strip("0"):
        return amount
    return f"{integer_part}.{cents[:decimals]}" if decimals else integer_part


def format_stored_amount(amount: str, decimals: int) -> str:
    """Return the amount with exactly the decimals of its currency; unchanged where it has more.

    >>> format_stored_amount("-1234", 2), format_stored_amount("7.5000", 2), format_stored_amount("1.234", 2)
    ('-1234.00', '7.50', '1.234')
    """
    integer_part, _, cents = trim_trailing_zeros(amount, decimals).partition(".")
    cents = cents.ljust(decimals, "0")
    return f"{integer_part}.{cents}" if cents else integer_part


def is_amount_text(text: str, decimal_mark: DecimalMark) -> bool:
    """Whether the text is an amount with this mark, of any number of decimals."""
    if len(text) > MAX_LENGTH or not _LIKE_AMOUNT.fullmatch(text):
        return False
    try:
        parse_bank_money(text, decimal_mark)
    except UnreadableValueError:
        return False
    return True


def find_decimal_marks(texts: Iterable[str]) -> Collection[DecimalMark]:
    """Return the decimal marks with which most texts are amounts: both if none of the texts decides.

    >>> [mark.value for mark in find_decimal_marks(["1.234,50", "-3"])], len(find_decimal_marks(["1.234", "5"]))
    (['comma'], 2)
    >>> [mark.value for mark in find_decimal_marks(["-0,750", "4,000"])]
    ['comma']
    >>> [mark.value for mark in find_decimal_marks(["1000.500"])]
    ['point']
    """
    known_texts = list(texts)
    counts = {mark: sum(is_amount_text(text, mark) for text in known_texts) for mark in DecimalMark}
    best = max(counts.values())
    return [mark for mark, count in counts.items() if count == best]
