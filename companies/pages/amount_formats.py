"""Formatting and parsing of amounts and counts in the user's locale."""

import re
from decimal import Context, Decimal
from functools import cache

from babel.numbers import get_currency_precision
from django.utils.translation import gettext as _

from companies.locales import LOCALE_NAMES, Locale, find_currency_symbol, get_current_locale
from companies.models import Currency

MINUS = "\N{MINUS SIGN}"  # as wide as a digit
WIDE = Context(prec=50)  # digits of the largest total

_SPACES = re.compile(r"[ \u00a0\u2009\u202f]")
_PLAIN = re.compile(r"-?[0-9]{1,15}(?:\.[0-9]{1,4})?")  # the API's format
_GROUPED = re.compile(r"(-?)([0-9]{1,3}(?:([,.'’ ])[0-9]{3}(?:\3[0-9]{3}){0,3}))(?:([.,])([0-9]{1,4}))?")
_BESIDE = re.compile(r"([^0-9]*)([0-9](?:.*[0-9])?)([^0-9]*)")  # an amount with text around it
_PARENTHESES = re.compile(r"([^-+−()0-9]{0,9})\( ?[-−]?([^-+−()]*)\)([^-+−()0-9]{0,9})")
_ANY_SIGN = re.compile(r"[-+]")
_PERCENT = re.compile(r"([0-9]{1,3}(?:[.,][0-9]{1,4})?) ?%?", re.ASCII)
_ZERO = re.compile(r"-?0")
_CENTS = re.compile(r"-?[0-9]{1,15}\.(?:[0-9]{1,2}|[0-9]{4})")  # three decimals could be a group
_COMMA = re.compile(r"(-?[0-9]{1,15}),([0-9]{1,4})")


def format_money(amount: Decimal | str, currency: str, locale: Locale | None = None) -> str:
    """Format an amount with its currency in the user's locale, with the currency's decimals; zero has no sign.

    >>> format_money("-1234.5", "EUR"), format_money(Decimal("-0.00"), "JPY")
    ('−€1,234.50', '¥0')
    """
    locale, decimal_amount = locale or get_current_locale(), Decimal(amount)
    decimals = get_currency_precision(currency)
    rounded_amount = abs(decimal_amount).quantize(
        Decimal(1).scaleb(-decimals), context=WIDE
    )  # half to even, as in Babel
    text = locale.format_price(locale.format_number(rounded_amount, decimals), currency)
    return f"{MINUS}{text}" if decimal_amount < 0 and rounded_amount else text


def format_count(count: int) -> str:
    """Format a count: 20,000."""
    return get_current_locale().format_number(count)


def format_amount_for_input(text: object) -> str:
    """Format an API amount for an input in the user's locale: 1234.56 becomes 1234,56 in German. Other text is
    unchanged.

    >>> format_amount_for_input("-1234.50"), format_amount_for_input("1.234,50")
    ('-1234.50', '1.234,50')
    """
    amount_text = str(text)
    return amount_text.replace(".", get_current_locale().decimal) if _CENTS.fullmatch(amount_text) else amount_text


def format_percent_for_input(percent: Decimal | None) -> str:
    """Format a percentage for an input in the user's locale, without zeros at the end; empty without one.

    >>> format_percent_for_input(Decimal("8.1000")), format_percent_for_input(Decimal(20))
    ('8.1', '20')
    """
    return "" if percent is None else f"{percent.normalize():f}".replace(".", get_current_locale().decimal)


class AmountParseError(ValueError):
    """The text is no amount, or ambiguous; the message is for the user."""


def parse_typed_amount(text: str, currency: str | None = None) -> str:
    """Parse a typed amount into the API's format, preferring the user's locale: 1.234 is 1234 in German.

    Otherwise any unambiguous notation is accepted: 1,234.56, 1.234,56, 1 234,56 and 1'234.56 are 1234.56.
    Without a known locale one comma before three digits is ambiguous and rejected; a single point is the
    decimal one.

    An amount in parentheses is negative, as accountants write it.

    `currency` is the field's, whose symbol or code may stand before or after the number: "" for any, None
    for a number that is no money. Raises AmountParseError.

    >>> [parse_typed_amount(each) for each in ("−1.234.567,5", "12,50", "1 234", "0,125")]
    ['-1234567.5', '12.50', '1234', '0.125']
    >>> parse_typed_amount("+12.50"), parse_typed_amount("-€12.50", "EUR"), parse_typed_amount("12,50 eur", "")
    ('12.50', '-12.50', '12.50')
    >>> [parse_typed_amount(each, "EUR") for each in ("(500)", "(-500)", "(€500.00)", "€ (500)")]
    ['-500', '-500', '-500.00', '-500']
    """
    locale, text = get_current_locale(), _SPACES.sub(" ", text.strip()).replace(MINUS, "-")
    text = strip_currency(replace_parentheses(text), currency)
    grouped_match, comma_match = _GROUPED.fullmatch(text), _COMMA.fullmatch(text)
    group_sign = "." if locale.group == "." else ","
    if (
        locale.tag
        and grouped_match
        and grouped_match[3] == group_sign != locale.decimal
        and grouped_match[4] != group_sign
        and not _ZERO.match(text)
    ):
        return join_amount_groups(grouped_match)
    if _PLAIN.fullmatch(text):
        return text
    if grouped_match and comma_match and not locale.tag and not _ZERO.match(text):
        plain_text = text.replace(",", "")
        message = _("“{text}” could mean {one} or {other}. Enter it without thousands separators.")
        raise AmountParseError(message.format(text=text, one=plain_text, other=text.replace(",", ".")))
    if comma_match:
        return f"{comma_match[1]}.{comma_match[2]}"
    if grouped_match and grouped_match[3] != grouped_match[4]:
        return join_amount_groups(grouped_match)
    raise AmountParseError(_("Enter an amount such as {example}.").format(example=get_amount_example(locale)))


def parse_typed_percent(text: str) -> Decimal:
    """Parse a typed percentage, with or without its sign, point or comma. Raises AmountParseError.

    >>> parse_typed_percent("8,1"), parse_typed_percent("19 %")
    (Decimal('8.1'), Decimal('19'))
    """
    match = _PERCENT.fullmatch(_SPACES.sub(" ", text.strip()))
    if match is None:
        raise AmountParseError(_("Enter a percentage, such as 19 %."))
    return Decimal(match[1].replace(",", "."))


def replace_parentheses(text: str) -> str:
    """Return an amount in parentheses with a minus; a minus inside says the same again.

    >>> replace_parentheses("(500)"), replace_parentheses("( -500 )"), replace_parentheses("500")
    ('-500', '-500', '500')
    """
    match = _PARENTHESES.fullmatch(text)
    return f"-{match[1]}{match[2].strip()}{match[3]}" if match else text


def strip_currency(text: str, currency: str | None) -> str:
    """Return the amount without plus sign and currency; unchanged if it has more than one of each.

    Raises AmountParseError for another currency.
    """
    match = _BESIDE.fullmatch(text)
    if match is None:
        return text
    prefix, digits, suffix = match.groups()
    signs, marks = _ANY_SIGN.findall(prefix), [mark for each in (prefix, suffix) if (mark := each.strip(" +-"))]
    if len(signs) > 1 or len(marks) > 1 or suffix.strip(" +-") != suffix.strip():
        return text
    for mark in marks:
        matching_currencies = {
            code for code in Currency.values if mark.casefold().rstrip(".") in list_currency_spellings(code)
        }
        if currency is None or not matching_currencies:
            return text
        if currency and currency not in matching_currencies:
            message = _("This amount is in {currency}, not “{sign}”. Enter it in {currency}.")
            raise AmountParseError(message.format(currency=currency, sign=mark))
    return f"-{digits}" if "-" in signs else digits


@cache
def list_currency_spellings(currency: str) -> frozenset[str]:
    """Return a currency's code and symbols in all locales, and the symbols without letters: A$ is $ in Australia."""
    spellings = {currency, *(find_currency_symbol(tag, currency) for tag in LOCALE_NAMES)}
    signs = {char for each in spellings for char in each if not char.isalnum() and char != "."}
    return frozenset(each.casefold().rstrip(".") for each in spellings | signs)


def join_amount_groups(match: re.Match[str]) -> str:
    """Return the amount without group separators."""
    return match[1] + match[2].replace(match[3], "") + (f".{match[5]}" if match[5] else "")


def get_amount_example(locale: Locale) -> str:
    """Return an example of an amount in the locale."""
    return locale.format_number(Decimal("1234.56")) if locale.tag else "1234.56"
