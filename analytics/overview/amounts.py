"""Amounts as people read them: whole for tables, short for axes and key figures; written as the reader's place does."""

from decimal import ROUND_HALF_UP, Decimal
from functools import cache

from django.utils.translation import gettext as _

from companies.locales import NARROW, WIDE, current
from companies.pages.amounts import MINUS
from ledger.calc.money import WIDE as DIGITS_OF_TOTALS
from ledger.calc.money import minor_units, round_half_up

UNITS = (Decimal(10) ** 12, Decimal(10) ** 9, Decimal(10) ** 6, Decimal(10) ** 3)
DIGITS = 3  # that count in a short amount
GLANCE = 14  # characters that a key figure has room for
ON_AXIS = 8  # and those that an axis has


def priced(size: Decimal, currency: str, *, decimals: int = 0, unit: str = "") -> str:
    """An amount of so many decimals without its sign; as Babel writes it, in a twentieth of its time."""
    locale = current()
    return locale.priced(f"{locale.number(size, decimals)}{unit}", currency)


def signed(amount: Decimal, text: str, *, plus: bool = False) -> str:
    """The text with the amount's sign before it; zero has none."""
    return f"{MINUS if amount < 0 else '+' if plus and amount > 0 else ''}{text}"


def whole(amount: Decimal, currency: str, *, plus: bool = False) -> str:
    """All digits, in groups, without the currency.

    >>> whole(Decimal("-1234567.5"), "EUR"), whole(Decimal(1200), "JPY")
    ('−1,234,567.50', '1,200')
    """
    if not amount:
        return current().written(nothing(currency))
    rounded = round_half_up(amount, currency)
    text = current().number(rounded, minor_units(currency))
    return f"+{text}" if plus and rounded > 0 else text.replace("-", MINUS)


@cache
def nothing(currency: str) -> str:
    """0.00: most cells of most tables."""
    return f"{round_half_up(Decimal(0), currency):f}"


def rounded(amount: Decimal, currency: str, *, plus: bool = False) -> str:
    """To whole units, with the currency.

    >>> rounded(Decimal("1234567.5"), "EUR"), rounded(Decimal(-7), "CHF"), rounded(Decimal(5), "USD", plus=True)
    ('€1,234,568', '−CHF\u202f7', '+$5')
    """
    units = round_to(amount, 0)
    return signed(units, priced(abs(units), currency), plus=plus)


def brief(amount: Decimal, currency: str, *, plus: bool = False) -> str:
    """To whole units where they are read at a glance, else as short as ``compact`` has them.

    >>> brief(Decimal("1234567.5"), "EUR"), brief(Decimal("-12345678901"), "EUR")
    ('€1,234,568', '−€12.3B')
    """
    text = rounded(amount, currency, plus=plus)
    return text if len(text) <= GLANCE else compact(amount, currency, plus=plus)


def on_axis(amount: Decimal, currency: str) -> str:
    """As ``compact`` has it, but for a long symbol or unit: axes have room for digits, and the page says the currency.

    >>> on_axis(Decimal(-12500), "EUR"), on_axis(Decimal(-12500), "CHF")
    ('−€12.5k', '−12.5k')
    """
    text, sign = compact(amount, currency), current().symbol(currency)
    if sign[-1].isalpha() or len(text) > ON_AXIS:
        for beside in (f"{sign}{NARROW}", f"{sign}{WIDE}", f"{WIDE}{sign}"):
            text = text.replace(beside, "")
    return text


def compact(amount: Decimal, currency: str, *, plus: bool = False) -> str:
    """Three digits and a unit.

    >>> compact(Decimal(12500), "EUR"), compact(Decimal(-1234567), "USD"), compact(Decimal("0.5"), "GBP")
    ('€12.5k', '−$1.23M', '£0.50')
    """
    size = abs(amount)
    for place, unit in enumerate(UNITS):
        # 999,950 is shown as 1M, not as 1000k.
        if size >= unit * Decimal("0.9995"):
            short = three_digits(size / unit)
            decimals = max(-int(short.as_tuple().exponent), 0)
            return signed(amount, priced(short, currency, decimals=decimals, unit=unit_sign(place)), plus=plus)
    decimals = minor_units(currency) if size != size.to_integral_value() else 0
    return signed(amount, priced(round_to(size, decimals), currency, decimals=decimals), plus=plus)


def unit_sign(place: int) -> str:
    """Of one of the units: k, or a word a little apart from its number."""
    sign = _("T, B, M, k").split(", ")[place]
    return sign if len(sign) == 1 else f"{NARROW}{sign}"


def percent(share: Decimal, *, plus: bool = False) -> str:
    """With one decimal.

    >>> percent(Decimal("0.2505")), percent(Decimal("-0.01"), plus=True)
    ('25.1 %', '−1.0 %')
    """
    hundredths = round_to(share * 100, 1)
    return signed(hundredths, f"{current().number(abs(hundredths))} %", plus=plus)


def three_digits(value: Decimal) -> Decimal:
    """Three digits that count, without zeros behind.

    >>> str(three_digits(Decimal("12.50"))), str(three_digits(Decimal("1234"))), str(three_digits(Decimal("999.96")))
    ('12.5', '1234', '1000')
    """
    before = max(value.adjusted() + 1, 1)
    short = round_to(value, max(DIGITS - before, 0))
    return short.to_integral_value() if short == short.to_integral_value() else short.normalize()


def round_to(value: Decimal, decimals: int) -> Decimal:
    """Half-up."""
    return value.quantize(Decimal(1).scaleb(-decimals), rounding=ROUND_HALF_UP, context=DIGITS_OF_TOTALS)
