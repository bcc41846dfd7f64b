"""Exchange rates as a lookup table, and conversion between currencies.

A rate is the units of a currency for one euro, as published by the European Central Bank.
"""

from bisect import bisect_right
from collections.abc import Iterable
from datetime import date
from decimal import Decimal

from ledger.money.calc.money import MONEY_CONTEXT

EURO = "EUR"
ONE = Decimal(1)


class RateLookupError(LookupError):
    """A currency has no exchange rate at all. A missing rate is never taken for 1."""

    def __init__(self, currency: str) -> None:
        """Keep the currency without a rate."""
        super().__init__(f"No exchange rate for {currency}. Ask the operator to load exchange rates.")
        self.currency = currency


class RateTable:
    """All known rates, from rows of (currency, date, units of the currency per 1 EUR), in any order.

    A later row for the same currency and day replaces an earlier one. The table is immutable; build a new one
    for new rates.

    Raises:
        ValueError: a rate is not positive.

    >>> rates = RateTable([("USD", date(2024, 1, 5), Decimal("1.10")), ("USD", date(2024, 1, 8), Decimal("1.20"))])
    >>> rates.get_rate("USD", date(2024, 1, 7))
    Decimal('1.10')
    """

    __slots__ = ("_days", "_pairs", "_rates", "version")

    def __init__(self, rows: Iterable[tuple[str, date, Decimal]], *, version: int = 0) -> None:
        """Sort the rows by currency and day; `version` tells tables apart."""
        self.version = version
        rates_by_currency: dict[str, dict[date, Decimal]] = {}
        for currency, day, rate in rows:
            if not rate > 0:
                raise ValueError(f"The rate of {currency} on {day} is {rate}; it must be positive.")
            rates_by_currency.setdefault(currency, {})[day] = rate
        self._days = {currency: sorted(rates) for currency, rates in rates_by_currency.items()}
        self._rates = {currency: [rates[day] for day in sorted(rates)] for currency, rates in rates_by_currency.items()}
        self._pairs: dict[tuple[str, str, date], tuple[Decimal, Decimal]] = {}

    def get_rate(self, currency: str, day: date) -> Decimal:
        """Return the units of the currency per 1 EUR on a day; 1 for the euro.

        That is the last rate published on or before the day, else the first one.

        Raises:
            RateLookupError: the currency has no rate.
        """
        if currency == EURO:
            return ONE
        position = self._find_position(currency, day)
        return self._rates[currency][position]

    def get_rate_date(self, currency: str, day: date) -> date:
        """Return the day on which the rate for `day` was published; the day itself for the euro.

        Raises:
            RateLookupError: the currency has no rate.
        """
        if currency == EURO:
            return day
        position = self._find_position(currency, day)
        return self._days[currency][position]

    def get_cross_rate(self, source: str, target: str, day: date) -> Decimal:
        """Return the units of `target` for 1 unit of `source` on the day, to 50 digits.

        To convert one amount use `convert_currency`: it multiplies before it divides, so exact results stay exact.

        Raises:
            RateLookupError: a currency has no rate.
        """
        target_rate, source_rate = self.get_rate_pair(source, target, day)
        return MONEY_CONTEXT.divide(target_rate, source_rate)

    def get_rate_pair(self, source: str, target: str, day: date) -> tuple[Decimal, Decimal]:
        """Return (rate of target, rate of source) on the day: multiply by the first, divide by the second.

        Pairs are cached, because thousands of amounts share few days.

        Raises:
            RateLookupError: a currency has no rate.
        """
        if source == target:
            return ONE, ONE
        key = (source, target, day)
        rate_pair = self._pairs.get(key)
        if rate_pair is None:
            rate_pair = self._pairs[key] = (self.get_rate(target, day), self.get_rate(source, day))
        return rate_pair

    def _find_position(self, currency: str, day: date) -> int:
        days = self._days.get(currency)
        if not days:
            raise RateLookupError(currency)
        return max(bisect_right(days, day) - 1, 0)


def convert_currency(amount: Decimal, *, source: str, target: str, day: date, rates: RateTable) -> Decimal:
    """Convert an amount at the rates of a day, through the euro, to 50 digits.

    The result is not rounded: add up first, round once at the end. The same currency returns the amount
    unchanged, even without a rate.

    Raises:
        RateLookupError: a currency has no rate.

    >>> rates = RateTable([("USD", date(2024, 1, 5), Decimal("1.25"))])
    >>> convert_currency(Decimal("100.00"), source="USD", target="EUR", day=date(2024, 1, 5), rates=rates)
    Decimal('80')
    """
    if source == target:
        return amount
    return apply_rate_pair(amount, rates.get_rate_pair(source, target, day))


def apply_rate_pair(amount: Decimal, rate_pair: tuple[Decimal, Decimal]) -> Decimal:
    """Convert an amount with a pair of `RateTable.get_rate_pair`: multiplied before it is divided, to 50 digits."""
    target_rate, source_rate = rate_pair
    return MONEY_CONTEXT.divide(MONEY_CONTEXT.multiply(amount, target_rate), source_rate)
