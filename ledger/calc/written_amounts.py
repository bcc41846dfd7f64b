"""Amounts as bank files write them: one strict parser. What is not clearly one amount is refused, never repaired."""

import re

MAX_WHOLE_DIGITS = 15
# One decimal mark at most, and between thousands one and the same other mark, in groups of three digits.
_UNGROUPED = re.compile(r"(?P<whole>[0-9]*)(?:[.,](?P<decimals>[0-9]*))?")
_GROUPED = re.compile(
    r"(?P<whole>[0-9]{1,3}(?P<group>[.,' ])[0-9]{3}(?:(?P=group)[0-9]{3})*)(?:(?!(?P=group))[.,](?P<decimals>[0-9]*))?"
)
_SIGN = re.compile(r"([+-]?) *")
_ONE_COMMA_AND_THREE_DIGITS = re.compile(r"[1-9][0-9]{0,2},[0-9]{3}")


class GarbledAmountError(ValueError):
    """The text is not one amount, such as 12.3.4, 1,2.3, 123 45, 1e3 or 5-5."""


def parse_written_amount(text: str) -> str:
    """Return an amount with an optional sign as plain text: a minus at most, digits, and a point before decimals.

    A comma before exactly three digits sets off thousands, since no currency has three decimals; a point is the decimal
    mark. Zeros stay as they are written.

    Raises:
        GarbledAmountError: the text is not one amount.

    >>> parse_written_amount("-1,234.50"), parse_written_amount("1.234,5"), parse_written_amount("1,050")
    ('-1234.50', '1234.5', '1050')
    >>> parse_written_amount("12.500"), parse_written_amount("+12,5"), parse_written_amount("1 234")
    ('12.500', '12.5', '1234')
    """
    sign = _SIGN.match(text)
    number = text[sign.end() :] if sign else text
    match = _UNGROUPED.fullmatch(number)
    if match is None or _ONE_COMMA_AND_THREE_DIGITS.fullmatch(number):
        match = _GROUPED.fullmatch(number)
    if match is None:
        raise GarbledAmountError(text)
    whole, decimals = re.sub(r"[^0-9]", "", match["whole"]), match["decimals"] or ""
    if not (whole or decimals) or len(whole.lstrip("0")) > MAX_WHOLE_DIGITS:
        raise GarbledAmountError(text)
    negative = sign is not None and sign[1] == "-"
    return f"{'-' if negative else ''}{whole or '0'}{'.' if decimals else ''}{decimals}"
