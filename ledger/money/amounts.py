"""Amounts as they are written, in and out: the one place that reads them for a caller."""

from decimal import Decimal

from django.utils.translation import gettext as _

from companies.errors import FieldErrors
from companies.pages.amounts import NotAnAmount, amount_typed
from ledger.calc.money import InvalidAmount, TooManyDecimals, format_amount, parse_amount


def amount_in(text: str, currency: str, *, pointer: str) -> Decimal:
    """The amount in its currency. Raises FieldErrors with invalid_decimal or too_many_decimals."""
    try:
        return parse_amount(text, currency)
    except InvalidAmount:
        raise FieldErrors([(pointer, "invalid_decimal", _("Must be a string such as -1234.56."))]) from None
    except TooManyDecimals:
        raise FieldErrors(
            [(pointer, "too_many_decimals", _("{currency} has fewer decimals.").format(currency=currency))]
        ) from None


def typed_in(text: str, *, currency: str, pointer: str) -> str:
    """What a person typed into a form, in a currency or "" for any, as callers write it. Raises FieldErrors with
    invalid_decimal."""
    try:
        return amount_typed(text, currency)
    except NotAnAmount as error:
        raise FieldErrors([(pointer, "invalid_decimal", str(error))]) from None


def bound_in(text: str) -> Decimal:
    """An amount to compare others with, of whatever currency. Raises InvalidAmount, a ValueError."""
    return parse_amount(text)


def amount_out(value: Decimal, currency: str) -> str:
    """The amount with exactly the currency's decimals."""
    return format_amount(value, currency)
