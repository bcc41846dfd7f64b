"""Currencies and amounts: decimals per currency, rounding, parsing and formatting."""

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
_SMALLEST_UNITS = {currency: Decimal(1).scaleb(-units) for currency, units in _MINOR_UNITS.items()}

MAX_RATE_DECIMALS = 1  # of a tax rate
# Amounts have at most 15 digits before the point and 4 after it; their sums and products fit into 50 digits, so that
# results do not depend on the caller's decimal context.
MONEY_CONTEXT = Context(prec=50, rounding=ROUND_HALF_UP)

_AMOUNT = re.compile(r"-?[0-9]{1,15}(?:\.([0-9]{1,4}))?")


class UnknownCurrency(ValueError):
    """The code is not one of the supported currencies."""


class InvalidAmount(ValueError):
    """The text is not an amount: a minus sign at most, up to 15 digits, a point and up to 4 decimals."""


class TooManyDecimals(ValueError):
    """The amount has more decimals than its currency."""


def get_minor_units(currency: str) -> int:
    """Return the number of decimals of a currency (ISO 4217). Raises UnknownCurrency.

    >>> get_minor_units("EUR"), get_minor_units("JPY")
    (2, 0)
    """
    try:
        return _MINOR_UNITS[currency]
    except KeyError:
        raise UnknownCurrency(f"{currency!r} is not a supported currency.") from None


def get_smallest_unit(currency: str) -> Decimal:
    """Return the smallest amount of the currency, such as 0.01. Raises UnknownCurrency."""
    if currency not in _SMALLEST_UNITS:
        get_minor_units(currency)
    return _SMALLEST_UNITS[currency]


def round_half_up(amount: Decimal, currency: str) -> Decimal:
    """Round an amount to the currency's decimals; halves go away from zero; never a negative zero.

    Raises:
        UnknownCurrency.
        decimal.InvalidOperation: the amount is 10^48 or more.

    >>> round_half_up(Decimal("-2.345"), "EUR"), round_half_up(Decimal("2.5"), "JPY")
    (Decimal('-2.35'), Decimal('3'))
    """
    rounded = amount.quantize(get_smallest_unit(currency), rounding=ROUND_HALF_UP, context=MONEY_CONTEXT)
    return rounded or rounded.copy_abs()


def round_amounts(amounts: Iterable[Decimal], currency: str) -> list[Decimal]:
    """Round many amounts of one currency as `round_half_up` does, in a third of the time.

    >>> round_amounts([Decimal("-2.345"), Decimal("-0.001")], "EUR")
    [Decimal('-2.35'), Decimal('0.00')]
    """
    unit = get_smallest_unit(currency)
    zero = 0 * unit  # never a negative one
    return [amount.quantize(unit, ROUND_HALF_UP, MONEY_CONTEXT) or zero for amount in amounts]


def format_amount(amount: Decimal, currency: str) -> str:
    """Format an amount with exactly the currency's decimals, rounded half-up; no exponent, no "-0.00".

    >>> format_amount(Decimal("1E+3"), "EUR"), format_amount(Decimal("-0.001"), "EUR")
    ('1000.00', '0.00')
    """
    return str(round_half_up(amount, currency))


def parse_amount(text: str, currency: str | None = None) -> Decimal:
    """Parse an amount of plain ASCII digits; without a currency up to four decimals are allowed.

    Never returns a negative zero. A written zero counts as a decimal: "1.500" has three.

    Raises:
        InvalidAmount, TooManyDecimals, UnknownCurrency.

    >>> parse_amount("-12.50", "EUR")
    Decimal('-12.50')
    """
    match = _AMOUNT.fullmatch(text)
    if match is None:
        raise InvalidAmount(f"{text!r} is not a valid amount, such as -1234.56.")
    if currency is not None and len(match[1] or "") > get_minor_units(currency):
        raise TooManyDecimals(f"{text!r} has more decimals than {currency} allows.")
    amount = Decimal(text)
    return amount or amount.copy_abs()


def has_too_many_decimals(amount: Decimal, currency: str) -> bool:
    """Return whether an amount has more decimals than its currency; trailing zeros do not count.

    Raises:
        UnknownCurrency.

    >>> has_too_many_decimals(Decimal("1.230"), "EUR"), has_too_many_decimals(Decimal("0.5"), "JPY")
    (False, True)
    """
    exponent = amount.normalize(MONEY_CONTEXT).as_tuple().exponent
    return -int(exponent) > get_minor_units(currency)


def compute_included_tax(amount: Decimal, percent: Decimal, currency: str) -> Decimal:
    """Return the tax included in a gross amount at a tax rate in percent, rounded half-up. Raises UnknownCurrency.

    >>> compute_included_tax(Decimal("-119.00"), Decimal(19), "EUR")
    Decimal('-19.00')
    >>> compute_included_tax(Decimal("10.00"), Decimal("7.5"), "JPY")
    Decimal('1')
    """
    return round_half_up(MONEY_CONTEXT.divide(MONEY_CONTEXT.multiply(amount, percent), 100 + percent), currency)


def is_single_rate(percent: Decimal) -> bool:
    """Whether a tax rate is one that bills have; those with more decimals are of bills with several rates."""
    return -int(percent.as_tuple().exponent) <= MAX_RATE_DECIMALS


def find_shortest_tax_percentage(amount: Decimal, tax: Decimal | None, currency: str) -> Decimal | None:
    """Return the tax rate with the fewest decimals that yields the tax in a gross amount; None if there is none.

    >>> find_shortest_tax_percentage(Decimal("-119.00"), Decimal("-19.00"), "EUR")
    Decimal('19')
    >>> find_shortest_tax_percentage(Decimal("100.00"), None, "EUR")
    """
    if not tax or tax == amount:
        return None
    exact = MONEY_CONTEXT.divide(100 * tax, amount - tax)
    candidates = (exact.quantize(Decimal(1).scaleb(-places), rounding=ROUND_HALF_UP) for places in range(5))
    percents = (
        candidate
        for candidate in candidates
        if candidate <= 100 and compute_included_tax(amount, candidate, currency) == tax
    )
    return next(percents, None)
