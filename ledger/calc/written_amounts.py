"""Amounts as bank files write them. A text that is not clearly one amount is rejected, never repaired."""

import re
from collections.abc import Iterable

MAX_WHOLE_DIGITS = 15
# At most one decimal mark; thousands are grouped by three digits with one other mark.
_UNGROUPED = re.compile(r"(?P<whole>[0-9]*)(?:[.,](?P<decimals>[0-9]*))?")
_GROUPED = re.compile(
    r"(?P<whole>[0-9]{1,3}(?P<group>[.,' ])[0-9]{3}(?:(?P=group)[0-9]{3})*)(?:(?!(?P=group))[.,](?P<decimals>[0-9]*))?"
)
_SIGN = re.compile(r"([+-]?) *")
_MARKS = re.compile(r"[.,]")
_ONE_MARK_AND_THREE_DIGITS = re.compile(r"(?<![0-9.,])[1-9][0-9]{0,2}[.,][0-9]{3}(?![0-9])")


class GarbledAmountError(ValueError):
    """The text is not one amount, such as 12.3.4, 1,2.3, 123 45, 1e3 or 5-5."""


class MixedMarksError(ValueError):
    """Some amounts of one file have a decimal point, and others a decimal comma; ``texts`` are two of them."""

    def __init__(self, *texts: str):
        self.texts = texts
        super().__init__(" / ".join(texts))


def find_decimal_mark(texts: Iterable[str]) -> str:
    """Return the decimal mark that the amounts of one file have; nothing where none of them tells.

    Three digits behind a single mark tell nothing: they are decimals or thousands.

    Raises:
        MixedMarksError: some tell a point and others a comma.

    >>> find_decimal_mark(["-4,50", "-1,234"]), find_decimal_mark(["1,234.50"]), find_decimal_mark(["1,234", "5"])
    (',', '.', '')
    """
    texts_by_mark: dict[str, str] = {}
    for text in texts:
        if mark := find_mark_of_amount(text):
            texts_by_mark.setdefault(mark, text.strip())
    if len(texts_by_mark) > 1:
        raise MixedMarksError(*texts_by_mark.values())
    return next(iter(texts_by_mark), "")


def find_mark_of_amount(text: str) -> str:
    """The decimal mark that one amount tells; nothing where it has none, may have either, or is garbled."""
    marks = _MARKS.findall(text)
    try:
        parse_written_amount(text)
    except GarbledAmountError:
        return ""
    if len(set(marks)) > 1:
        return marks[-1]
    if len(marks) > 1:
        return "," if marks[0] == "." else "."
    return "" if not marks or _ONE_MARK_AND_THREE_DIGITS.search(text) else marks[0]


def parse_written_amount(text: str, mark: str = "") -> str:
    """Return an amount with an optional sign as plain text: a minus at most, digits, and a point before decimals.

    ``mark`` is the decimal mark of its file. Where no amount of the file tells it, a comma before exactly three digits
    sets off thousands, since no currency has three decimals, and a point is the decimal mark. Zeros stay as they are
    written.

    Raises:
        GarbledAmountError: the text is not one amount, or not with this mark.

    >>> parse_written_amount("-1,234.50"), parse_written_amount("1.234,5"), parse_written_amount("1,050")
    ('-1234.50', '1234.5', '1050')
    >>> parse_written_amount("12.500"), parse_written_amount("+12,5"), parse_written_amount("1 234")
    ('12.500', '12.5', '1234')
    """
    sign = _SIGN.match(text)
    number = text[sign.end() :] if sign else text
    match = _UNGROUPED.fullmatch(number)
    group = {"": ",", ".": ",", ",": "."}[mark]
    if match is None or (_ONE_MARK_AND_THREE_DIGITS.fullmatch(number) and group in number):
        match = _GROUPED.fullmatch(number)
    if match is None or (mark and match["decimals"] is not None and group == number[match.start("decimals") - 1]):
        raise GarbledAmountError(text)
    whole, decimals = re.sub(r"[^0-9]", "", match["whole"]), match["decimals"] or ""
    if not (whole or decimals) or len(whole.lstrip("0")) > MAX_WHOLE_DIGITS:
        raise GarbledAmountError(text)
    negative = sign is not None and sign[1] == "-"
    return f"{'-' if negative else ''}{whole or '0'}{'.' if decimals else ''}{decimals}"
