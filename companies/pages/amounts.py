"""Amounts and counts as people read them in a sentence or a list."""

from decimal import Decimal

from babel.numbers import format_currency, get_currency_symbol

LOCALE = "en"
MINUS = "\N{MINUS SIGN}"  # as wide as a digit


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
