"""Amounts as banks write them: text → the plain form that the ledger takes, with the currency beside it.

Nothing is taken for something else: text that does not fit the chosen decimal mark is refused.
"""

import re
from collections.abc import Collection, Iterable
from enum import StrEnum
from typing import NamedTuple

from ledger.calc.tables import NumberText
from ledger.importing.calc.currencies import find_currencies

MAX_DIGITS = 15  # before the decimal mark, as the ledger stores them
MAX_LENGTH = 60  # characters of an amount or a date with its time; patterns try much on longer ones
MAX_MONEY_DECIMALS = 2  # more than most currencies have are a group of thousands that was misread


class Unreadable(ValueError):
    """The text is no amount or no date of the chosen kind: ``why`` says so to people, with ``values`` in its braces."""

    def __init__(self, why: str, **values: str):
        self.why, self.values = why, values
        super().__init__(why.format(**values))


class DecimalMark(StrEnum):
    """What stands before the cents."""

    POINT = "point"
    COMMA = "comma"


class Money(NamedTuple):
    """An amount in plain text such as -1234.56, and the currencies its sign may mean; none where it has none."""

    amount: str
    currencies: tuple[str, ...] = ()


_SAME = str.maketrans({"\u2212": "-", "\u2013": "-", "\u00a0": " ", "\u202f": " ", "\u2009": " ", "\u2019": "'"})
_WORD = r"[A-Za-z]{0,2}[$€£¥₩₪₹฿₺₱₽₴₫₦₸₼₾]|[^\W\d_]{1,5}\.?"
_TEXT = re.compile(
    rf"(?P<open>\()?\s*+(?P<before>[+-])?\s*+(?P<front>{_WORD})?\s*+(?P<between>[+-])?\s*+"
    rf"(?P<number>[0-9](?:[0-9.,' ]*[0-9.,])?|[.,][0-9]+)"
    rf"\s*+(?P<behind>[+-])?\s*+(?P<back>{_WORD})?\s*+(?P<last>{_WORD})?\s*+(?P<close>\))?"
)


def _number(group: str, mark: str) -> re.Pattern[str]:
    """A number without its sign: plain, in groups of three, or as in India. No group begins with a zero."""
    return re.compile(
        rf"(?P<whole>[1-9][0-9]{{0,2}}(?P<by3>[{group}' ])[0-9]{{3}}(?:(?P=by3)[0-9]{{3}})*"
        rf"|[1-9][0-9]?(?P<by2>[{group}' ])[0-9]{{2}}(?:(?P=by2)[0-9]{{2}})*(?P=by2)[0-9]{{3}}"
        rf"|[0-9]*)(?:{re.escape(mark)}(?P<cents>[0-9]*))?"
    )


_NUMBERS = {DecimalMark.POINT: _number(",", "."), DecimalMark.COMMA: _number(r"\.", ",")}
_PLAIN = re.compile(r"-?[1-9][0-9]{0,14}(?:\.[0-9]{1,2})?")
_OWN_NUMBER = re.compile(r"(-?)([^0-9]*)([0-9]+(?:\.[0-9]+)?)")
_USUAL = {  # as most amounts are written, which are read at once
    DecimalMark.POINT: re.compile(r"-?[1-9][0-9]{0,2}(?:,[0-9]{3}){0,4}\.[0-9]{2}"),
    DecimalMark.COMMA: re.compile(r"-?(?:[1-9][0-9]{0,2}(?:\.[0-9]{3}){0,4}|[1-9][0-9]{0,14}),[0-9]{2}"),
}
_LIKE_AMOUNT = re.compile(r"[^0-9]{0,12}[0-9][0-9.,'\u2019\s]*[^0-9]{0,16}")
OUT_MARKS = {"dr", "db", "d", "s", "dt", "deb"}
IN_MARKS = {"cr", "c", "h", "kt", "cred", "k"}


def parse_amount(text: str, mark: DecimalMark) -> str:
    """Return an amount as the ledger takes it, such as -1234.56.

    >>> parse_amount("1,234.50", DecimalMark.POINT), parse_amount("-1.234,50 €", DecimalMark.COMMA)
    ('1234.50', '-1234.50')
    >>> parse_amount("(12.00)", DecimalMark.POINT), parse_amount("12,00 Dr", DecimalMark.COMMA)
    ('-12.00', '-12.00')

    Raises:
        Unreadable: the text is no amount with this mark.
    """
    if mark is DecimalMark.POINT and type(text) is str and _PLAIN.fullmatch(text):
        return text
    return parse_money(text, mark).amount


def parse_money(text: str, mark: DecimalMark) -> Money:
    """Return an amount with the currency that stands beside it. Raises Unreadable.

    >>> parse_money("-7,00 GBP", DecimalMark.COMMA), parse_money("$7.00", DecimalMark.POINT).currencies[0]
    (Money(amount='-7.00', currencies=('GBP',)), 'USD')
    """
    if type(text) is NumberText:
        return read_number(text)
    if _USUAL[mark].fullmatch(text):
        plain = text.replace(",", "") if mark is DecimalMark.POINT else text.replace(".", "").replace(",", ".")
        return Money(plain)
    match = _TEXT.fullmatch(text.translate(_SAME).strip()) if len(text) <= MAX_LENGTH else None
    number = _NUMBERS[mark].fullmatch(match["number"]) if match else None
    if match is None or number is None:
        if mark is DecimalMark.POINT:
            raise Unreadable("“{text}” is no amount with a decimal point.", text=text[:40])
        raise Unreadable("“{text}” is no amount with a decimal comma.", text=text[:40])
    signs = [found for found in match.group("before", "between", "behind") if found]
    currencies, marked = _read_words(match, text)
    whole, cents = re.sub(r"[^0-9]", "", number["whole"]), number["cents"] or ""
    brackets = bool(match["open"])
    if not (whole or cents) or len(signs) + brackets + bool(marked) > 1 or brackets != bool(match["close"]):
        raise Unreadable("“{text}” is no amount.", text=text[:40])
    whole = whole.lstrip("0")
    if len(whole) > MAX_DIGITS:
        raise build_size_error(text)
    amount = (whole or "0") + (f".{cents}" if cents else "")
    negative = (brackets or "-" in signs or marked == "-") and amount.strip("0.")
    return Money(f"-{amount}" if negative else amount, currencies)


def build_size_error(text: str) -> Unreadable:
    return Unreadable("“{text}” is too large: an amount has up to 15 digits before its decimals.", text=text[:40])


def read_number(text: str) -> Money:
    """Return a spreadsheet's own number, which no decimal mark changes. Raises Unreadable.

    >>> read_number("-€1.234"), read_number("1000")
    (Money(amount='-1.234', currencies=('EUR',)), Money(amount='1000', currencies=()))
    """
    minus, sign, number = _OWN_NUMBER.fullmatch(text).groups()  # type: ignore[union-attr] # written by ourselves
    if len(number.partition(".")[0]) > MAX_DIGITS:
        raise build_size_error(text)
    return Money(minus + number, find_currencies(sign.strip()))


def _read_words(match: re.Match[str], text: str) -> tuple[tuple[str, ...], str]:
    """(the currencies, the sign that Dr or Cr means) of the words beside a number. Raises Unreadable for others."""
    currencies: tuple[str, ...] = ()
    marked = ""
    for word in filter(None, match.group("front", "back", "last")):
        plain = word.casefold().rstrip(".")
        is_number_of_something = word == match["front"] and len(plain) == 1 and plain.isascii() and plain.isalpha()
        if word == "k" and f"{match['number'][-1]}k" in text:  # thousands
            raise Unreadable("“{text}” is no amount.", text=text[:40])
        if not marked and plain in OUT_MARKS | IN_MARKS and not is_number_of_something:
            marked = "-" if plain in OUT_MARKS else "+"
        elif not currencies and not is_number_of_something and (found := find_currencies(word)):
            currencies = found
        else:
            raise Unreadable("“{text}” is no amount.", text=text[:40])
    return currencies, marked


def find_sign(text: str) -> str:
    """``-`` or ``+`` where the text says its direction by itself, with a sign, brackets, or Dr and Cr; else nothing.

    >>> find_sign("(12.00)"), find_sign("12.00 Cr"), find_sign("EUR 12.00")
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


def negate(amount: str) -> str:
    """The other way round; zero stays as it is.

    >>> negate("12.50"), negate("-3"), negate("0.00")
    ('-12.50', '3', '0.00')
    """
    if amount.startswith("-"):
        return amount[1:]
    return f"-{amount}" if amount.strip("0.") else amount


def drop_zeros(amount: str, decimals: int) -> str:
    """The amount without the zeros behind the decimals of its currency, which say nothing.

    >>> drop_zeros("-7.5000", 2), drop_zeros("500.00", 0), drop_zeros("1.2345", 2)
    ('-7.50', '500', '1.2345')
    """
    whole, _point, cents = amount.partition(".")
    if len(cents) <= decimals or cents[decimals:].strip("0"):
        return amount
    return f"{whole}.{cents[:decimals]}" if decimals else whole


def is_amount(text: str, mark: DecimalMark) -> bool:
    """Whether the text is an amount with this mark, of any number of decimals."""
    if len(text) > MAX_LENGTH or not _LIKE_AMOUNT.fullmatch(text):
        return False
    try:
        parse_money(text, mark)
    except Unreadable:
        return False
    return True


def find_marks(texts: Iterable[str]) -> Collection[DecimalMark]:
    """The decimal marks with which the most of the texts are amounts: both where none of the texts decides.

    >>> [mark.value for mark in find_marks(["1.234,50", "-3"])], len(find_marks(["1.234", "5"]))
    (['comma'], 2)
    >>> [mark.value for mark in find_marks(["-0,750", "4,000"])], [mark.value for mark in find_marks(["1000.500"])]
    (['comma'], ['point'])
    """
    known = list(texts)
    counts = {mark: sum(is_amount(text, mark) for text in known) for mark in DecimalMark}
    best = max(counts.values())
    return [mark for mark, count in counts.items() if count == best]
