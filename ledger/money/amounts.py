"""Parse and format amounts at the edge: API texts and form input."""

from decimal import Decimal

from django.utils.translation import gettext as _

from companies.errors import ValidationFailed
from companies.pages.amount_formats import AmountParseError, parse_typed_amount
from ledger.bulk.request_bodies import describe_too_many_decimals
from ledger.money.calc.money import InvalidAmount, TooManyDecimals, format_amount, parse_amount


def parse_api_amount(text: str, currency: str, *, pointer: str) -> Decimal:
    """Parse an API amount in its currency.

    Raises:
        ValidationFailed: `invalid_decimal`, `too_many_decimals`.
    """
    try:
        return parse_amount(text, currency)
    except InvalidAmount:
        raise ValidationFailed(
            [(pointer, "invalid_decimal", _('Must be a decimal string such as "-1234.56".'))]
        ) from None
    except TooManyDecimals:
        raise ValidationFailed([(pointer, "too_many_decimals", describe_too_many_decimals(text, currency))]) from None


def normalize_typed_amount(text: str, *, currency: str, pointer: str) -> str:
    """Return an amount typed into a form as the API writes it; with currency "" decimals are not checked.

    Raises:
        ValidationFailed: `invalid_decimal`.
    """
    try:
        return parse_typed_amount(text, currency)
    except AmountParseError as error:
        raise ValidationFailed([(pointer, "invalid_decimal", str(error))]) from None


def parse_amount_bound(text: str) -> Decimal:
    """Parse an amount of any currency to compare others with. Raises InvalidAmount, which is a ValueError."""
    return parse_amount(text)


def format_plain_amount(value: Decimal, currency: str) -> str:
    """Format an amount as the API writes it, with exactly the currency's decimals."""
    return format_amount(value, currency)
