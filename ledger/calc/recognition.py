"""When an amount counts in the profit and loss: the period it belongs to, and its share of each month."""

from datetime import date
from decimal import Decimal
from enum import StrEnum

from ledger.calc.money import minor_units
from ledger.calc.months import add_months, days_in_month, first_of_month, last_of_month


class DateRule(StrEnum):
    """How the service period of a categorization follows from its transaction."""

    TRANSACTION_DATE = "transactionDate"
    INVOICE_DATE = "invoiceDate"
    SERVICE_PERIOD = "servicePeriod"
    CUSTOM = "custom"
    MONTH = "month"
    QUARTER = "quarter"
    YEAR = "year"
    PREVIOUS_MONTH = "previousMonth"
    NEXT_MONTH = "nextMonth"


# Rule: (how many months to move, how many months a period has). The move starts at the period around the date.
_WHOLE_MONTHS = {
    DateRule.MONTH: (0, 1),
    DateRule.QUARTER: (0, 3),
    DateRule.YEAR: (0, 12),
    DateRule.PREVIOUS_MONTH: (-1, 1),
    DateRule.NEXT_MONTH: (1, 1),
}


def service_period(
    rule_type: str,
    transaction_date: date,
    *,
    start: date | None = None,
    end: date | None = None,
    invoice_date: date | None = None,
) -> tuple[date, date]:
    """First and last day of the period the amount belongs to, both included; one day for the two date rules.

    ``start`` and ``end`` are needed by servicePeriod and custom and ignored by the others. Without an invoice date the
    rule invoiceDate falls back to the transaction's. Raises ValueError for an unknown rule, a missing start or end, and
    a period that ends before it starts.

    >>> [day.isoformat() for day in service_period("quarter", date(2024, 5, 20))]
    ['2024-04-01', '2024-06-30']
    """
    rule = DateRule(rule_type)
    if rule is DateRule.TRANSACTION_DATE:
        return transaction_date, transaction_date
    if rule is DateRule.INVOICE_DATE:
        day = invoice_date or transaction_date
        return day, day
    if rule in _WHOLE_MONTHS:
        move, length = _WHOLE_MONTHS[rule]
        first_month = (transaction_date.month - 1) // length * length + 1
        first = add_months(transaction_date.replace(month=first_month, day=1), move)
        return first, last_of_month(add_months(first, length - 1))
    if start is None or end is None:
        raise ValueError(f"The rule {rule_type} needs a start and an end.")
    _in_order(start, end)
    return start, end


def spread(amount: Decimal, *, currency: str, start: date, end: date) -> dict[date, Decimal]:
    """Straight-line by day over [start, end], both included: first day of month -> part, in order of time.

    Each part is the difference of two running totals rounded half-up to the currency's decimals, and the last total is
    the amount itself, so the parts add up to it exactly. Parts of zero are left out. Any sign, and the parts of -x are
    those of x negated. Raises ValueError if the period ends before it starts, UnknownCurrency.

    Reproduces the by-day tables of Stripe's revenue recognition documentation.

    >>> parts = spread(Decimal("120.00"), currency="USD", start=date(2024, 6, 15), end=date(2024, 10, 12))
    >>> [str(part) for part in parts.values()]
    ['16.00', '31.00', '31.00', '30.00', '12.00']
    """
    _in_order(start, end)
    if not amount:
        return {}
    if start.year == end.year and start.month == end.month:
        return {first_of_month(start): amount}
    units = minor_units(currency)
    # Integers keep the running totals exact: amount = numerator / denominator, in smallest units, without its sign.
    numerator, denominator = amount.copy_abs().as_integer_ratio()
    days = (end - start).days + 1
    doubled = 2 * numerator * 10**units
    divisor = 2 * denominator * days
    half = denominator * days
    negative = amount < 0
    parts: dict[date, Decimal] = {}
    before = 0
    year, month, passed = start.year, start.month, 1 - start.day
    while (year, month) != (end.year, end.month):
        passed += days_in_month(year, month)
        total = (doubled * passed + half) // divisor
        if total != before:
            parts[date(year, month, 1)] = Decimal(before - total if negative else total - before).scaleb(-units)
            before = total
        year, month = (year, month + 1) if month < 12 else (year + 1, 1)
    rest = amount - Decimal(-before if negative else before).scaleb(-units)
    if rest:
        parts[date(year, month, 1)] = rest
    return parts


def _in_order(start: date, end: date) -> None:
    if end < start:
        raise ValueError(f"The period ends on {end}, before it starts on {start}.")
