"""What a recurring price is worth a month, to 50 digits, and what of such a value is money.

The error of a sum of a hundred thousand such values is far below the twelfth decimal. Before one is compared with zero
or rounded to a currency it is cut there, so that twelfths of prices that add up to half a cent round like the half cent
they are.
"""

from decimal import ROUND_HALF_EVEN, Decimal
from functools import lru_cache
from typing import Literal

from ledger.calc.money import WIDE
from ledger.calc.months import MONTHS_A_YEAR

BillingInterval = Literal["day", "week", "month", "year"]

NOISE = Decimal("1e-12")
_TIMES_A_YEAR = {"day": 365, "week": 52, "month": MONTHS_A_YEAR, "year": 1}


@lru_cache(maxsize=1 << 14)
def monthly_value(amount: Decimal, interval: BillingInterval, interval_count: int = 1) -> Decimal:
    """What an amount billed every ``interval_count`` intervals is worth a month, to 50 digits.

    month / n; year / 12n; week x 52 / 12n; day x 365 / 12n. Remembered: price lists are short. Raises ValueError for an
    unknown interval or a count below 1.

    >>> str(monthly_value(Decimal(120), "year")), str(monthly_value(Decimal(3), "week"))
    ('10', '13')
    """
    times = _TIMES_A_YEAR.get(interval)
    if times is None or interval_count < 1:
        raise ValueError(f"Nothing is billed every {interval_count} {interval}.")
    return WIDE.divide(WIDE.multiply(amount, Decimal(times)), Decimal(MONTHS_A_YEAR * interval_count))


def cut(value: Decimal) -> Decimal:
    """The value without what is below the twelfth decimal.

    >>> cut(Decimal("0.00499999999999999999")).normalize()
    Decimal('0.005')
    """
    return value.quantize(NOISE, rounding=ROUND_HALF_EVEN, context=WIDE)
