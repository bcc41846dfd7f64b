"""Amounts and counts as people read them in a sentence or a list, and amounts as they type them into a form."""

import re
from decimal import Context, Decimal
from functools import cache

from babel.numbers import get_currency_precision
from django.utils.translation import gettext as _

from companies.locales import NAMES, Locale, current, symbol
from companies.models import Currency

MINUS = "\N{MINUS SIGN}"  # as wide as a digit
WIDE = Context(prec=50)  # digits of the largest total

_SPACES = re.compile(r"[ \u00a0\u2009\u202f]")
_PLAIN = re.compile(r"-?[0-9]{1,15}(?:\.[0-9]{1,4})?")  # as the API writes them
_GROUPED = re.compile(r"(-?)([0-9]{1,3}(?:([,.'’ ])[0-9]{3}(?:\3[0-9]{3}){0,3}))(?:([.,])([0-9]{1,4}))?")
_BESIDE = re.compile(r"([^0-9]*)([0-9](?:.*[0-9])?)([^0-9]*)")  # an amount and what stands around it
_ANY_SIGN = re.compile(r"[-+]")
_ZERO = re.compile(r"-?0")
_CENTS = re.compile(r"-?[0-9]{1,15}\.(?:[0-9]{1,2}|[0-9]{4})")  # three could be a group
_COMMA = re.compile(r"(-?[0-9]{1,15}),([0-9]{1,4})")


def money(amount: Decimal | str, currency: str, locale: Locale | None = None) -> str:
    """€1,234.50, with the decimals of the currency, as the reader of the page writes it; zero has no sign.

    >>> money("-1234.5", "EUR"), money(Decimal(7), "CHF"), money(Decimal("-0.00"), "JPY")
    ('−€1,234.50', 'CHF\u202f7.00', '¥0')
    """
    locale, size = locale or current(), Decimal(amount)
    units = get_currency_precision(currency)
    rounded = abs(size).quantize(Decimal(1).scaleb(-units), context=WIDE)  # halves go to the even one, as in Babel
    text = locale.priced(locale.number(rounded, units), currency)
    return f"{MINUS}{text}" if size < 0 and rounded else text


def number(count: int) -> str:
    """20,000"""
    return current().number(count)


def as_typed(text: object) -> str:
    """An amount as the API has it, the way the reader would type it, to be changed in a field: 1234.56 is 1234,56.
    Anything else stays, as what somebody typed and did not get right.

    >>> as_typed("-1234.50"), as_typed("1.234,50")
    ('-1234.50', '1.234,50')
    """
    written = str(text)
    return written.replace(".", current().decimal) if _CENTS.fullmatch(written) else written


class NotAnAmount(ValueError):
    """What was typed is no amount, or could be two; the text is a sentence for who typed it."""


def amount_typed(text: str, currency: str | None = None) -> str:
    """What somebody typed, as the API writes amounts: as the reader's locale writes them where that fits, 1.234 is 1234
    in German, else however it can only be meant: 1,234.56, 1.234,56, 1 234,56 and 1'234.56 are 1234.56.

    Of a reader of whom nothing is known one comma before three digits may part thousands or decimals, and is refused;
    a point alone is the decimal one, as amounts are shown.

    ``currency`` is the field's, whose sign or code may stand before or behind it: "" where that can be any, None where
    the number is none of money. Raises NotAnAmount.

    >>> amount_typed("−1.234.567,5"), amount_typed("12,50"), amount_typed("1 234"), amount_typed("0,125")
    ('-1234567.5', '12.50', '1234', '0.125')
    >>> amount_typed("+12.50"), amount_typed("-€12.50", "EUR"), amount_typed("12,50 eur", "")
    ('12.50', '-12.50', '12.50')
    """
    locale, text = current(), bare(_SPACES.sub(" ", text.strip()).replace(MINUS, "-"), currency)
    grouped, comma = _GROUPED.fullmatch(text), _COMMA.fullmatch(text)
    usual = "." if locale.group == "." else ","
    if (
        locale.tag
        and grouped
        and grouped[3] == usual != locale.decimal
        and grouped[4] != usual
        and not _ZERO.match(text)
    ):
        return joined(grouped)
    if _PLAIN.fullmatch(text):
        return text
    if grouped and comma and not locale.tag and not _ZERO.match(text):
        plain = text.replace(",", "")
        said = _("“{text}” could be {one} or {other}. Write it without separators.")
        raise NotAnAmount(said.format(text=text, one=plain, other=text.replace(",", ".")))
    if comma:
        return f"{comma[1]}.{comma[2]}"
    if grouped and grouped[3] != grouped[4]:
        return joined(grouped)
    raise NotAnAmount(_("Write an amount such as {example}.").format(example=example(locale)))


def bare(text: str, currency: str | None) -> str:
    """The amount without a plus and without its currency; as it is where that is more than one of each. Raises
    NotAnAmount for another currency."""
    match = _BESIDE.fullmatch(text)
    if match is None:
        return text
    before, digits, behind = match.groups()
    signs, marks = _ANY_SIGN.findall(before), [mark for each in (before, behind) if (mark := each.strip(" +-"))]
    if len(signs) > 1 or len(marks) > 1 or behind.strip(" +-") != behind.strip():
        return text
    for mark in marks:
        meant = {each for each in Currency.values if mark.casefold().rstrip(".") in ways_to_write(each)}
        if currency is None or not meant:
            return text
        if currency and currency not in meant:
            said = _("This amount is in {currency}, not in “{sign}”. Write it in {currency}.")
            raise NotAnAmount(said.format(currency=currency, sign=mark))
    return f"-{digits}" if "-" in signs else digits


@cache
def ways_to_write(currency: str) -> frozenset[str]:
    """A currency's code, its signs in all locales, and what is left of those without letters: A$ is $ where it is
    one's own."""
    found = {currency, *(symbol(tag, currency) for tag in NAMES)}
    alone = {char for each in found for char in each if not char.isalnum() and char != "."}
    return frozenset(each.casefold().rstrip(".") for each in found | alone)


def joined(grouped: re.Match[str]) -> str:
    """An amount without the signs between its thousands."""
    return grouped[1] + grouped[2].replace(grouped[3], "") + (f".{grouped[5]}" if grouped[5] else "")


def example(locale: Locale) -> str:
    """How an amount is typed: with the locale's own signs, or without any between thousands where it is not known."""
    return locale.number(Decimal("1234.56")) if locale.tag else "1234.56"
