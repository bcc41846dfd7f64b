"""Monthly value of a recurring price, to 50 digits.

The error of a sum of a hundred thousand such values is far below the twelfth decimal. Before one is
compared with zero or rounded to a currency it is rounded there, so that twelfths of prices that add up to
half a cent round like half a cent.
"""

from decimal import ROUND_HALF_EVEN, Decimal
from functools import lru_cache
from typing import Literal

from ledger.calc.months import MONTHS_PER_YEAR
from ledger.money.calc.money import MONEY_CONTEXT

BillingInterval = Literal["day", "week", "month", "year"]

NOISE_QUANTUM = Decimal("1e-12")
_INTERVALS_PER_YEAR = {"day": 365, "week": 52, "month": MONTHS_PER_YEAR, "year": 1}


@lru_cache(maxsize=1 << 14)
def compute_monthly_value(amount: Decimal, interval: BillingInterval, interval_count: int = 1) -> Decimal:
    """Return the monthly value of an amount billed every ``interval_count`` intervals, to 50 digits.

    month / n; year / 12n; week x 52 / 12n; day x 365 / 12n. Cached: price lists are short. Raises ValueError
    for an unknown interval or a count below 1.

    >>> str(compute_monthly_value(Decimal(120), "year")), str(compute_monthly_value(Decimal(3), "week"))
    ('10', '13')
    """
    intervals_per_year = _INTERVALS_PER_YEAR.get(interval)
    if intervals_per_year is None or interval_count < 1:
        raise ValueError(f"Nothing is billed every {interval_count} {interval}.")
    return MONEY_CONTEXT.divide(
        MONEY_CONTEXT.multiply(amount, Decimal(intervals_per_year)), Decimal(MONTHS_PER_YEAR * interval_count)
    )


def drop_rounding_noise(value: Decimal) -> Decimal:
    """Return the value rounded to twelve decimals.

    >>> drop_rounding_noise(Decimal("0.00499999999999999999")).normalize()
    Decimal('0.005')
    """
    return value.quantize(NOISE_QUANTUM, rounding=ROUND_HALF_EVEN, context=MONEY_CONTEXT)
