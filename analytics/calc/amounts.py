"""Amounts as people read them: whole for tables, short for axes and key figures."""

from decimal import ROUND_HALF_UP, Decimal

from ledger.calc.money import minor_units

SYMBOLS = {
    "EUR": "€", "USD": "$", "GBP": "£", "JPY": "¥", "AUD": "A$", "CAD": "C$", "NZD": "NZ$", "HKD": "HK$", "SGD": "S$",
    "MXN": "MX$", "BRL": "R$", "CNY": "CN¥", "INR": "₹", "KRW": "₩", "ILS": "₪", "TRY": "₺", "PHP": "₱",
}  # fmt: skip
NARROW_SPACE = "\u202f"
MINUS = "\u2212"
UNITS = ((Decimal(10) ** 12, "T"), (Decimal(10) ** 9, "B"), (Decimal(10) ** 6, "M"), (Decimal(10) ** 3, "k"))
DIGITS = 3  # that count in a short amount


def symbol(currency: str) -> str:
    """What stands before an amount; the code, apart, where there is no sign of its own."""
    return SYMBOLS.get(currency) or f"{currency}{NARROW_SPACE}"


def signed(amount: Decimal, text: str, *, plus: bool = False) -> str:
    """The text with the amount's sign before it; zero has none."""
    return f"{MINUS if amount < 0 else '+' if plus and amount > 0 else ''}{text}"


def whole(amount: Decimal, currency: str) -> str:
    """All digits, in groups, without the currency.

    >>> whole(Decimal("-1234567.5"), "EUR"), whole(Decimal(1200), "JPY")
    ('−1,234,567.50', '1,200')
    """
    rounded = round_to(amount, minor_units(currency))
    return signed(rounded, f"{abs(rounded):,.{minor_units(currency)}f}")


def rounded(amount: Decimal, currency: str, *, plus: bool = False) -> str:
    """To whole units, with the currency.

    >>> rounded(Decimal("1234567.5"), "EUR"), rounded(Decimal(-7), "CHF"), rounded(Decimal(5), "USD", plus=True)
    ('€1,234,568', '−CHF\u202f7', '+$5')
    """
    units = round_to(amount, 0)
    return signed(units, f"{symbol(currency)}{abs(units):,.0f}", plus=plus)


def compact(amount: Decimal, currency: str) -> str:
    """Three digits and a unit.

    >>> compact(Decimal(12500), "EUR"), compact(Decimal(-1234567), "USD"), compact(Decimal("0.5"), "GBP")
    ('€12.5k', '−$1.23M', '£0.50')
    """
    size = abs(amount)
    for unit, letter in UNITS:
        # 999,950 is shown as 1M, not as 1000k.
        if size >= unit * Decimal("0.9995"):
            return signed(amount, f"{symbol(currency)}{short(size / unit)}{letter}")
    decimals = minor_units(currency) if size != size.to_integral_value() else 0
    return signed(amount, f"{symbol(currency)}{round_to(size, decimals):,.{decimals}f}")


def percent(share: Decimal, *, plus: bool = False) -> str:
    """With one decimal.

    >>> percent(Decimal("0.2505")), percent(Decimal("-0.01"), plus=True)
    ('25.1 %', '−1.0 %')
    """
    hundredths = round_to(share * 100, 1)
    return signed(hundredths, f"{abs(hundredths):,} %", plus=plus)


def short(value: Decimal) -> str:
    """Three digits that count, without zeros behind.

    >>> short(Decimal("12.50")), short(Decimal("1234")), short(Decimal("999.96"))
    ('12.5', '1,234', '1,000')
    """
    before = max(value.adjusted() + 1, 1)
    text = f"{round_to(value, max(DIGITS - before, 0)):,f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def round_to(value: Decimal, decimals: int) -> Decimal:
    """Half-up."""
    return value.quantize(Decimal(1).scaleb(-decimals), rounding=ROUND_HALF_UP)
