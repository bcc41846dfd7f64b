"""Exchange rates as a table to look up in: which rate a day has, and what an amount is worth in another currency.

A rate says how many units of a currency one euro bought, as the European Central Bank publishes it.
"""

from bisect import bisect_right
from collections.abc import Iterable
from datetime import date
from decimal import Decimal

from ledger.calc.money import WIDE

EURO = "EUR"
ONE = Decimal(1)


# The longest gap between two publications has been five days (Easter, Christmas); anything older has gone missing.
class MissingRate(LookupError):
    """There is no rate at all for the currency. It is never taken for 1."""

    def __init__(self, currency: str) -> None:
        """Remember which currency was asked for."""
        super().__init__(f"There is no exchange rate for {currency}.")
        self.currency = currency


class RateTable:
    """All known rates, from rows of (currency, date, units of the currency per 1 EUR), in any order.

    A second row for the same currency and day replaces the first. Raises ValueError for a rate that is not positive.
    The table does not change; build a new one when rates arrive.

    >>> rates = RateTable([("USD", date(2024, 1, 5), Decimal("1.10")), ("USD", date(2024, 1, 8), Decimal("1.20"))])
    >>> rates.rate("USD", date(2024, 1, 7))
    Decimal('1.10')
    """

    __slots__ = ("_days", "_pairs", "_rates")

    def __init__(self, rows: Iterable[tuple[str, date, Decimal]]) -> None:
        """Sort the rows by currency and day."""
        by_currency: dict[str, dict[date, Decimal]] = {}
        for currency, day, rate in rows:
            if not rate > 0:
                raise ValueError(f"The rate of {currency} on {day} is {rate}; it must be positive.")
            by_currency.setdefault(currency, {})[day] = rate
        self._days = {currency: sorted(rates) for currency, rates in by_currency.items()}
        self._rates = {currency: [rates[day] for day in sorted(rates)] for currency, rates in by_currency.items()}
        self._pairs: dict[tuple[str, str, date], tuple[Decimal, Decimal]] = {}

    def rate(self, currency: str, day: date) -> Decimal:
        """Units of the currency per 1 EUR: the last rate published on or before the day; before the first, the first.

        1 for the euro. Raises MissingRate for a currency without any rate.
        """
        if currency == EURO:
            return ONE
        position = self._position(currency, day)
        return self._rates[currency][position]

    def rate_date(self, currency: str, day: date) -> date:
        """The day on which the rate for ``day`` was published; the day itself for the euro. Raises MissingRate."""
        if currency == EURO:
            return day
        position = self._position(currency, day)
        return self._days[currency][position]

    def cross(self, source: str, target: str, day: date) -> Decimal:
        """Units of ``target`` for 1 unit of ``source`` on the day, to 50 digits. Raises MissingRate.

        For one amount use ``convert``: it multiplies before it divides, so that an exact result stays exact.
        """
        of_target, of_source = self.pair(source, target, day)
        return WIDE.divide(of_target, of_source)

    def pair(self, source: str, target: str, day: date) -> tuple[Decimal, Decimal]:
        """The rates of target and source on the day: an amount is multiplied by the first and divided by the second.

        Remembered, since thousands of amounts share few days. Raises MissingRate.
        """
        if source == target:
            return ONE, ONE
        key = (source, target, day)
        found = self._pairs.get(key)
        if found is None:
            found = self._pairs[key] = (self.rate(target, day), self.rate(source, day))
        return found

    def _position(self, currency: str, day: date) -> int:
        days = self._days.get(currency)
        if not days:
            raise MissingRate(currency)
        return max(bisect_right(days, day) - 1, 0)


def convert(amount: Decimal, *, source: str, target: str, day: date, rates: RateTable) -> Decimal:
    """What ``amount`` of ``source`` is worth in ``target`` on the day, through the euro, to 50 digits.

    Not rounded to a currency: add up first and round once, at the end. The same currency gives the amount back,
    known rate or not. Raises MissingRate.

    >>> rates = RateTable([("USD", date(2024, 1, 5), Decimal("1.25"))])
    >>> convert(Decimal("100.00"), source="USD", target="EUR", day=date(2024, 1, 5), rates=rates)
    Decimal('80')
    """
    if source == target:
        return amount
    return at_rate(amount, rates.pair(source, target, day))


def at_rate(amount: Decimal, pair: tuple[Decimal, Decimal]) -> Decimal:
    """The amount at a ``RateTable.pair``: multiplied before it is divided, to 50 digits."""
    of_target, of_source = pair
    return WIDE.divide(WIDE.multiply(amount, of_target), of_source)
