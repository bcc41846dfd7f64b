"""Amounts and counts as people read them in a sentence or a list, and amounts as they type them into a form."""

import re
from decimal import Decimal

from babel.numbers import format_currency, get_currency_symbol

LOCALE = "en"
MINUS = "\N{MINUS SIGN}"  # as wide as a digit

_SPACES = re.compile(r"[ \u00a0\u2009\u202f]")
_PLAIN = re.compile(r"-?[0-9]{1,15}(?:\.[0-9]{1,4})?")  # as the API writes them
_GROUPED = re.compile(r"(-?)([0-9]{1,3}(?:([,.'’ ])[0-9]{3}(?:\3[0-9]{3}){0,3}))(?:([.,])([0-9]{1,4}))?")
_COMMA = re.compile(r"(-?[0-9]{1,15}),([0-9]{1,4})")


def gap(currency: str) -> str:
    """What stands between a currency's symbol and digits: letters stand apart, CHF 1,234.50, and signs do not.

    So CLDR's currencySpacing has it, and Babel not.
    """
    return "\N{NARROW NO-BREAK SPACE}" if get_currency_symbol(currency, locale=LOCALE)[-1].isalpha() else ""


def money(amount: Decimal | str, currency: str) -> str:
    """€1,234.50, with the decimals of the currency; zero has no sign.

    >>> money("-1234.5", "EUR"), money(Decimal(7), "CHF"), money(Decimal("-0.00"), "JPY")
    ('−€1,234.50', 'CHF\u202f7.00', '¥0')
    """
    text = format_currency(Decimal(amount) or 0, currency, locale=LOCALE).replace("-", MINUS)
    symbol = get_currency_symbol(currency, locale=LOCALE)
    return text.replace(symbol, f"{symbol}{gap(currency)}", 1)


def counted(count: int, noun: str) -> str:
    """1 transaction, 2,000 transactions"""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


class NotAnAmount(ValueError):
    """What was typed is no amount, or could be two; the text is a sentence for who typed it."""


def amount_typed(text: str) -> str:
    """What somebody typed, as the API writes amounts: 1,234.56, 1.234,56, 1 234,56 and 1'234.56 are 1234.56.

    One comma before three digits may part thousands or decimals, and is refused. A point alone is the decimal one, as
    amounts are shown. Raises NotAnAmount.

    >>> amount_typed("−1.234.567,5"), amount_typed("12,50"), amount_typed("1 234"), amount_typed("0,125")
    ('-1234567.5', '12.50', '1234', '0.125')
    """
    text = _SPACES.sub(" ", text.strip()).replace(MINUS, "-")
    if _PLAIN.fullmatch(text):
        return text
    grouped = _GROUPED.fullmatch(text)
    comma = _COMMA.fullmatch(text)
    if grouped and comma and not text.lstrip("-").startswith("0"):
        plain = text.replace(",", "")
        raise NotAnAmount(f"“{text}” could be {plain} or {text.replace(',', '.')}. Write it without separators.")
    if comma:
        return f"{comma[1]}.{comma[2]}"
    if grouped and grouped[3] != grouped[4]:
        digits = grouped[2].replace(grouped[3], "")
        return grouped[1] + digits + (f".{grouped[5]}" if grouped[5] else "")
    raise NotAnAmount("Write an amount such as 1234.56.")
