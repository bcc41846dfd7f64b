"""Amounts of money: the currencies, their decimals, and the one way to round, read, print and divide them."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Context, Decimal
from fractions import Fraction

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


class MixedCurrencies(ValueError):
    """Two amounts of different currencies were added or subtracted without a rate."""


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


def format_amount(amount: Decimal, currency: str) -> str:
    """The amount as text with exactly the currency's decimals, rounded half-up; no exponent, no "-0.00".

    >>> format_amount(Decimal("1E+3"), "EUR"), format_amount(Decimal("-0.001"), "EUR")
    ('1000.00', '0.00')
    """
    return format(round_half_up(amount, currency), "f")


def parse_amount(text: str, currency: str) -> Decimal:
    """The amount written in ``text``, plain ASCII digits only, never a negative zero.

    A written zero counts as a decimal: "1.500" has three. Raises InvalidAmount, TooManyDecimals, UnknownCurrency.

    >>> parse_amount("-12.50", "EUR")
    Decimal('-12.50')
    """
    match = _AMOUNT.fullmatch(text)
    if match is None:
        raise InvalidAmount(f"{text!r} is not an amount like -1234.56.")
    if len(match[1] or "") > minor_units(currency):
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


def allocate(amount: Decimal, currency: str, *, weights: Sequence[Decimal | int]) -> list[Decimal]:
    """Divide a whole number of smallest units by the weights so that the parts add up to the amount exactly.

    Each part is rounded towards zero; the units left over go one each to the largest remainders, ties to the first.
    Raises ValueError if the amount is finer than the currency, or no weight is positive, or one is negative.
    As RubyMoney's ``allocate``, which puts 100 / 3 at 34, 33, 33.

    >>> [int(part) for part in allocate(Decimal(100), "JPY", weights=[1, 1, 1])]
    [34, 33, 33]
    """
    total = sum(map(Fraction, weights), Fraction())
    if total <= 0 or min(weights) < 0:
        raise ValueError("The weights must not be negative and must not all be zero.")
    unit = smallest_unit(currency)
    units = int(WIDE.divide(amount.copy_abs(), unit))
    if units * unit != amount.copy_abs():
        raise ValueError(f"{amount} is no whole number of {currency}'s smallest units.")
    exact = [units * Fraction(weight) / total for weight in weights]
    parts = [int(share) for share in exact]
    by_remainder = sorted(range(len(parts)), key=lambda index: parts[index] - exact[index])
    for index in by_remainder[: units - sum(parts)]:
        parts[index] += 1
    sign = -1 if amount < 0 else 1
    return [sign * part * unit if part else unit * 0 for part in parts]


@dataclass(frozen=True, slots=True)
class Money:
    """An amount with its currency; the two never part, and two currencies never meet without a rate.

    >>> Money(Decimal("10.00"), "EUR") + -Money(Decimal("2.50"), "EUR")
    Money(amount=Decimal('7.50'), currency='EUR')
    """

    amount: Decimal
    currency: str

    def __add__(self, other: "Money") -> "Money":
        """The sum; raises MixedCurrencies."""
        self._same_currency(other)
        return Money(WIDE.add(self.amount, other.amount), self.currency)

    def __sub__(self, other: "Money") -> "Money":
        """The difference; raises MixedCurrencies."""
        self._same_currency(other)
        return Money(WIDE.subtract(self.amount, other.amount), self.currency)

    def __neg__(self) -> "Money":
        """The same amount the other way round."""
        return Money(WIDE.subtract(Decimal(0), self.amount), self.currency)

    def rounded(self) -> "Money":
        """With exactly the currency's decimals, rounded half-up."""
        return Money(round_half_up(self.amount, self.currency), self.currency)

    def allocate(self, *weights: Decimal | int) -> list["Money"]:
        """Divided by the weights without losing a unit; see the function of the same name."""
        return [Money(part, self.currency) for part in allocate(self.amount, self.currency, weights=weights)]

    def _same_currency(self, other: "Money") -> None:
        if self.currency != other.currency:
            raise MixedCurrencies(f"{self.currency} and {other.currency} cannot be added without a rate.")
