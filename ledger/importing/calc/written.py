"""Amounts and dates as banks write them: text → the one form that the ledger takes, and guesses of how it was meant.

Nothing is taken for something else: what does not fit the way that was chosen is refused, so that a wrong choice shows
in the first row and not in the balance.
"""

import re
from collections.abc import Sequence
from datetime import date
from enum import StrEnum
from functools import lru_cache

from ledger.calc.months import day_in_month

DECIMALS_OF_MONEY = 2  # more than the currencies have are a group of thousands that was misread
MOST_DIGITS = 15  # before the decimal sign, as the ledger stores them
LONGEST = 60  # characters of an amount or a date with its time; patterns try much on longer ones
CENTURY_TURNS = 70  # 69 is 2069, 70 is 1970, as POSIX reads two digits


class Unreadable(ValueError):
    """The text is no amount or no date of the chosen kind: ``why`` says so to people, with ``values`` in its braces."""

    def __init__(self, why: str, **values: str):
        self.why, self.values = why, values
        super().__init__(why.format(**values))


class DecimalSign(StrEnum):
    """What stands before the cents."""

    POINT = "point"
    COMMA = "comma"


class DateOrder(StrEnum):
    """In which order a date is written. One that begins with its year, or names its month, is read in any case."""

    ISO = "iso"
    DAY_FIRST = "dayFirst"
    MONTH_FIRST = "monthFirst"


# ---------------------------------------------------------------------------------------------- amounts

_SAME = str.maketrans({"\u2212": "-", "\u2013": "-", "\u00a0": " ", "\u202f": " ", "\u2009": " ", "\u2019": "'"})
_MONEY = r"(?:[A-Z]{3}|[€$£¥₩₪₹฿₺₱])?"
_GROUPED = (
    r"(?P<whole>[0-9]{{1,3}}(?P<by3>[{0}' ])[0-9]{{3}}(?:(?P=by3)[0-9]{{3}})*"  # 1,234,567
    r"|[0-9]{{1,2}}(?P<by2>[{0}' ])[0-9]{{2}}(?:(?P=by2)[0-9]{{2}})*(?P=by2)[0-9]{{3}}"  # 12,34,567
    r"|[0-9]*)"
)


def _written(group: str, point: str) -> re.Pattern[str]:
    """A number with its sign before or behind it, a currency on either side, or in brackets. Blanks are given to nobody
    else once they are taken (``*+``): shared out among those that may follow each other, they take forever."""
    number = _GROUPED.format(re.escape(group)) + rf"(?:{re.escape(point)}(?P<cents>[0-9]*))?"
    return re.compile(
        rf"(?P<open>\()?\s*+(?P<before>[+-])?\s*+{_MONEY}\s*+(?P<between>[+-])?\s*+{number}"
        rf"\s*+(?P<behind>[+-])?\s*+{_MONEY}\s*+(?P<close>\))?"
    )


_AMOUNTS = {DecimalSign.POINT: _written(",", "."), DecimalSign.COMMA: _written(".", ",")}
_PLAIN = re.compile(r"-?[1-9][0-9]{0,14}(?:\.[0-9]{1,4})?")


def read_amount(text: str, sign: DecimalSign) -> str:
    """An amount as the ledger takes it, such as -1234.56. Raises Unreadable.

    >>> read_amount("1,234.50", DecimalSign.POINT), read_amount("-1.234,50 €", DecimalSign.COMMA)
    ('1234.50', '-1234.50')
    >>> read_amount("(12.00)", DecimalSign.POINT), read_amount("12,00-", DecimalSign.COMMA)
    ('-12.00', '-12.00')
    """
    if sign is DecimalSign.POINT and _PLAIN.fullmatch(text):
        return text
    match = _AMOUNTS[sign].fullmatch(text.translate(_SAME).strip()) if len(text) <= LONGEST else None
    if match is None:
        if sign is DecimalSign.POINT:
            raise Unreadable("“{text}” is no amount with a decimal point.", text=text[:40])
        raise Unreadable("“{text}” is no amount with a decimal comma.", text=text[:40])
    signs = [found for found in match.group("before", "between", "behind") if found]
    whole, cents = re.sub(r"[^0-9]", "", match["whole"]), match["cents"] or ""
    brackets = bool(match["open"])
    if not (whole or cents) or len(signs) + brackets > 1 or brackets != bool(match["close"]):
        raise Unreadable("“{text}” is no amount.", text=text[:40])
    whole = whole.lstrip("0")
    if len(whole) > MOST_DIGITS:
        raise Unreadable("“{text}” is too large: an amount has up to 15 digits before its decimals.", text=text[:40])
    amount = (whole or "0") + (f".{cents}" if cents else "")
    negative = (brackets or "-" in signs) and amount.strip("0.")
    return f"-{amount}" if negative else amount


def negated(amount: str) -> str:
    """The other way round; zero stays as it is.

    >>> negated("12.50"), negated("-3"), negated("0.00")
    ('-12.50', '3', '0.00')
    """
    if amount.startswith("-"):
        return amount[1:]
    return f"-{amount}" if amount.strip("0.") else amount


def guessed_sign(texts: Sequence[str]) -> DecimalSign:
    """The decimal sign with which the most of the texts are amounts of at most two decimals; the point in doubt.

    >>> guessed_sign(["1.234,50", "-3"]), guessed_sign(["1,234", "5"]), guessed_sign(["1.234", "5"])
    (<DecimalSign.COMMA: 'comma'>, <DecimalSign.POINT: 'point'>, <DecimalSign.COMMA: 'comma'>)
    """
    return max(DecimalSign, key=lambda sign: sum(is_money(text, sign) for text in texts))


def is_money(text: str, sign: DecimalSign) -> bool:
    """Whether the text is an amount of at most two decimals."""
    try:
        return len(read_amount(text, sign).partition(".")[2]) <= DECIMALS_OF_MONEY
    except Unreadable:
        return False


# ---------------------------------------------------------------------------------------------- dates

_TIME = r"(?:,?[T ]\s*[0-9]{1,2}:[0-9]{2}.*)?"
_YEAR_FIRST = re.compile(rf"([0-9]{{4}})(?:([-/.])([0-9]{{1,2}})\2([0-9]{{1,2}})|([0-9]{{2}})([0-9]{{2}})){_TIME}")
_YEAR_LAST = re.compile(rf"([0-9]{{1,2}}) ?([-/. ]) ?([0-9]{{1,2}}) ?\2 ?([0-9]{{4}}|[0-9]{{2}}){_TIME}")
_DAY_AND_NAME = re.compile(rf"([0-9]{{1,2}})[-. ]{{1,2}}([A-Za-z]{{3,9}})[-., ]{{1,2}}([0-9]{{4}}|[0-9]{{2}}){_TIME}")
_NAME_AND_DAY = re.compile(rf"([A-Za-z]{{3,9}})[-. ]{{1,2}}([0-9]{{1,2}})[-., ]{{1,2}}([0-9]{{4}}|[0-9]{{2}}){_TIME}")
_MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]


@lru_cache(maxsize=1 << 14)
def read_date(text: str, order: DateOrder) -> date:
    """The day that the text names; a time behind it changes nothing, and a day that the month has not is its last.
    Raises Unreadable.

    >>> str(read_date("31.01.26", DateOrder.DAY_FIRST)), str(read_date("1/31/2026", DateOrder.MONTH_FIRST))
    ('2026-01-31', '2026-01-31')
    >>> str(read_date("2026-01-31T23:59:59Z", DateOrder.ISO)), str(read_date("Jan 31, 2026", DateOrder.DAY_FIRST))
    ('2026-01-31', '2026-01-31')
    """
    parts = date_parts(text.translate(_SAME).strip(), order) if len(text) <= LONGEST else None
    if parts is None:
        raise Unreadable("“{text}” is no date of the chosen order.", text=text[:40])
    try:
        return day_in_month(*parts)
    except ValueError:
        raise Unreadable("“{text}”: there is no such day.", text=text[:40]) from None


def date_parts(text: str, order: DateOrder) -> tuple[int, int, int] | None:
    """(year, month, day) as they are written, or None."""
    if match := _YEAR_FIRST.fullmatch(text):
        year, _, month, day, month_alone, day_alone = match.groups()
        return int(year), int(month or month_alone), int(day or day_alone)
    if match := _DAY_AND_NAME.fullmatch(text):
        return with_name(match[3], match[2], match[1])
    if match := _NAME_AND_DAY.fullmatch(text):
        return with_name(match[3], match[1], match[2])
    match = _YEAR_LAST.fullmatch(text)
    if match is None or order is DateOrder.ISO:
        return None
    first, second = int(match[1]), int(match[3])
    day_number, month_number = (first, second) if order is DateOrder.DAY_FIRST else (second, first)
    return whole_year(match[4]), month_number, day_number


def with_name(year: str, name: str, day: str) -> tuple[int, int, int] | None:
    """The parts where the month is named, in English and at least by three letters."""
    short = name[:3].lower()
    return (whole_year(year), _MONTHS.index(short) + 1, int(day)) if short in _MONTHS else None


def whole_year(text: str) -> int:
    """The year, in full where only its last two digits are written."""
    year = int(text)
    if len(text) > 2:
        return year
    return year + (2000 if year < CENTURY_TURNS else 1900)


def guessed_order(texts: Sequence[str]) -> DateOrder:
    """The order in which the most texts are dates; of two that fit equally, the one by which they lie closer together:
    a statement covers some weeks, and read the wrong way round it covers the year.

    >>> guessed_order(["03/04/2026", "03/05/2026", "03/06/2026"]), guessed_order(["31.01.2026"])
    (<DateOrder.MONTH_FIRST: 'monthFirst'>, <DateOrder.DAY_FIRST: 'dayFirst'>)
    """

    def fits(order: DateOrder) -> tuple[int, int]:
        days = [day for text in texts if (day := day_or_none(text, order))]
        return len(days), -(max(days) - min(days)).days if days else 0

    return max(DateOrder, key=fits)


def day_or_none(text: str, order: DateOrder) -> date | None:
    """The day, or None for what is no date of the order."""
    try:
        return read_date(text, order)
    except Unreadable:
        return None
