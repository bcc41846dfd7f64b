"""Amounts of money: the currencies, their decimals, and the one way to round, read and print them."""

import re
from collections.abc import Iterable
from decimal import ROUND_HALF_UP, Context, Decimal

# fmt: off
CURRENCIES = (
    "EUR", "AUD", "BRL", "CAD", "CHF", "CNY", "CZK", "DKK", "GBP", "HKD", "HUF", "IDR", "ILS", "INR", "ISK",
    "JPY", "KRW", "MXN", "MYR", "NOK", "NZD", "PHP", "PLN", "RON", "SEK", "SGD", "THB", "TRY", "USD", "ZAR",
)
# fmt: on
"""The euro and every currency the European Central Bank publishes a reference rate for."""

_MINOR_UNITS = dict.fromkeys(CURRENCIES, 2) | {"ISK": 0, "JPY": 0, "KRW": 0}  # ISO 4217
_SMALLEST = {currency: Decimal(1).scaleb(-units) for currency, units in _MINOR_UNITS.items()}

# Fifteen digits before the point and four behind it fit many times over, and so do products and sums of them:
# results never depend on the precision of the caller's context.
WIDE = Context(prec=50, rounding=ROUND_HALF_UP)

_AMOUNT = re.compile(r"-?[0-9]{1,15}(?:\.([0-9]{1,4}))?")


class UnknownCurrency(ValueError):
    """The code is not one of the thirty currencies."""


class InvalidAmount(ValueError):
    """The text is not an amount: a minus sign at most, up to 15 digits, a point and up to 4 decimals."""


class TooManyDecimals(ValueError):
    """The amount has more decimals than its currency."""


def minor_units(currency: str) -> int:
    """How many decimals the currency has (ISO 4217). Raises UnknownCurrency.

    >>> minor_units("EUR"), minor_units("JPY")
    (2, 0)
    """
    try:
        return _MINOR_UNITS[currency]
    except KeyError:
        raise UnknownCurrency(f"{currency!r} is not a known currency.") from None


def smallest_unit(currency: str) -> Decimal:
    """The smallest amount of the currency, such as 0.01. Raises UnknownCurrency."""
    if currency not in _SMALLEST:
        minor_units(currency)
    return _SMALLEST[currency]


def round_half_up(amount: Decimal, currency: str) -> Decimal:
    """The amount with exactly the currency's decimals; halves go away from zero; never a negative zero.

    Raises UnknownCurrency, and decimal.InvalidOperation for what no amount of money reaches (10^48).

    >>> round_half_up(Decimal("-2.345"), "EUR"), round_half_up(Decimal("2.5"), "JPY")
    (Decimal('-2.35'), Decimal('3'))
    """
    rounded = amount.quantize(smallest_unit(currency), rounding=ROUND_HALF_UP, context=WIDE)
    return rounded or rounded.copy_abs()


def round_all(amounts: Iterable[Decimal], currency: str) -> list[Decimal]:
    """``round_half_up`` of many amounts of one currency, in a third of its time.

    >>> round_all([Decimal("-2.345"), Decimal("-0.001")], "EUR")
    [Decimal('-2.35'), Decimal('0.00')]
    """
    unit = smallest_unit(currency)
    zero = 0 * unit  # never a negative one
    return [amount.quantize(unit, ROUND_HALF_UP, WIDE) or zero for amount in amounts]


def format_amount(amount: Decimal, currency: str) -> str:
    """The amount as text with exactly the currency's decimals, rounded half-up; no exponent, no "-0.00".

    >>> format_amount(Decimal("1E+3"), "EUR"), format_amount(Decimal("-0.001"), "EUR")
    ('1000.00', '0.00')
    """
    return str(round_half_up(amount, currency))


def parse_amount(text: str, currency: str | None = None) -> Decimal:
    """The amount written in ``text``, plain ASCII digits only, never a negative zero; without a currency of any.

    A written zero counts as a decimal: "1.500" has three. Raises InvalidAmount, TooManyDecimals, UnknownCurrency.

    >>> parse_amount("-12.50", "EUR")
    Decimal('-12.50')
    """
    match = _AMOUNT.fullmatch(text)
    if match is None:
        raise InvalidAmount(f"{text!r} is not an amount like -1234.56.")
    if currency is not None and len(match[1] or "") > minor_units(currency):
        raise TooManyDecimals(f"{text!r} has more decimals than {currency}.")
    amount = Decimal(text)
    return amount or amount.copy_abs()


def too_fine(amount: Decimal, currency: str) -> bool:
    """Whether the amount has more decimals than its currency; zeros at the end do not count. Raises UnknownCurrency.

    >>> too_fine(Decimal("1.230"), "EUR"), too_fine(Decimal("0.5"), "JPY")
    (False, True)
    """
    exponent = amount.normalize(WIDE).as_tuple().exponent
    return -int(exponent) > minor_units(currency)


def tax_within(amount: Decimal, percent: Decimal, currency: str) -> Decimal:
    """The tax that an amount has in it, where it was added at so many percent; rounded half up. Raises UnknownCurrency.

    >>> tax_within(Decimal("-119.00"), Decimal(19), "EUR"), tax_within(Decimal("10.00"), Decimal("7.5"), "JPY")
    (Decimal('-19.00'), Decimal('1'))
    """
    return round_half_up(WIDE.divide(WIDE.multiply(amount, percent), 100 + percent), currency)
