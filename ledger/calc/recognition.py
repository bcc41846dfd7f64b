"""Revenue and expense recognition: the service period of an amount and its share of each month."""

from datetime import date, timedelta
from decimal import Decimal
from enum import StrEnum

from ledger.calc.months import add_months, count_days_in_month, get_first_day_of_month, get_last_day_of_month
from ledger.money.calc.money import get_minor_units


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


class PeriodStart(StrEnum):
    """From when a service period of a number of months runs."""

    PAYMENT = "payment"  # the day of the transaction
    NEXT_MONTH = "nextMonth"  # the first day of the month after it


# Rule -> (offset in months from the period that contains the date, length of the period in months).
_WHOLE_MONTHS = {
    DateRule.MONTH: (0, 1),
    DateRule.QUARTER: (0, 3),
    DateRule.YEAR: (0, 12),
    DateRule.PREVIOUS_MONTH: (-1, 1),
    DateRule.NEXT_MONTH: (1, 1),
}


def compute_service_period(
    rule_type: str,
    transaction_date: date,
    *,
    start: date | None = None,
    end: date | None = None,
    invoice_date: date | None = None,
) -> tuple[date, date]:
    """Return (first day, last day) of the service period, both included; one day for the two date rules.

    `start` and `end` are required by servicePeriod and custom and ignored by the other rules. Without an
    invoice date the rule invoiceDate uses the transaction date.

    Raises:
        ValueError: the rule is unknown, start or end is missing, or the period ends before it starts.

    >>> [day.isoformat() for day in compute_service_period("quarter", date(2024, 5, 20))]
    ['2024-04-01', '2024-06-30']
    """
    rule = DateRule(rule_type)
    if rule is DateRule.TRANSACTION_DATE:
        return transaction_date, transaction_date
    if rule is DateRule.INVOICE_DATE:
        day = invoice_date or transaction_date
        return day, day
    if rule in _WHOLE_MONTHS:
        month_offset, period_months = _WHOLE_MONTHS[rule]
        first_month = (transaction_date.month - 1) // period_months * period_months + 1
        first = add_months(transaction_date.replace(month=first_month, day=1), month_offset)
        return first, get_last_day_of_month(add_months(first, period_months - 1))
    if start is None or end is None:
        raise ValueError(f"The rule {rule_type} needs a start and an end.")
    _check_period_order(start, end)
    return start, end


def compute_period_of_months(day: date, *, months: int, start: str) -> tuple[date, date]:
    """Return (first day, last day) of a service period of whole months that begins with or after a payment.

    Args:
        start: `payment` or `nextMonth`.

    Raises:
        ValueError: `start` is unknown, or the period is outside the years 1 to 9999.

    >>> [str(each) for each in compute_period_of_months(date(2026, 3, 15), months=12, start="payment")]
    ['2026-03-15', '2027-03-14']
    >>> [str(each) for each in compute_period_of_months(date(2026, 3, 15), months=3, start="nextMonth")]
    ['2026-04-01', '2026-06-30']
    """
    first = day if PeriodStart(start) is PeriodStart.PAYMENT else add_months(get_first_day_of_month(day), 1)
    return first, add_months(first, months) - timedelta(days=1)


def spread_amount(amount: Decimal, *, currency: str, start: date, end: date) -> dict[date, Decimal]:
    """Spread an amount by day over [start, end], both included; the parts add up to `amount` exactly.

    Each part is the difference of two running totals rounded half-up to the currency's decimals. Parts of zero
    are left out. The parts of -x are those of x negated. Reproduces the by-day tables of Stripe's revenue
    recognition documentation.

    Returns:
        First day of month -> part, in chronological order.

    Raises:
        ValueError: the period ends before it starts.
        UnknownCurrency.

    >>> parts = spread_amount(Decimal("120.00"), currency="USD", start=date(2024, 6, 15), end=date(2024, 10, 12))
    >>> [str(part) for part in parts.values()]
    ['16.00', '31.00', '31.00', '30.00', '12.00']
    """
    _check_period_order(start, end)
    if not amount:
        return {}
    if start.year == end.year and start.month == end.month:
        return {get_first_day_of_month(start): amount}
    units = get_minor_units(currency)
    # Integers keep the running totals exact: amount = numerator / denominator, in smallest units, without its sign.
    numerator, denominator = amount.copy_abs().as_integer_ratio()
    days = (end - start).days + 1
    doubled_numerator = 2 * numerator * 10**units
    divisor = 2 * denominator * days
    half = denominator * days
    negative = amount < 0
    parts: dict[date, Decimal] = {}
    previous_total = 0
    year, month, elapsed_days = start.year, start.month, 1 - start.day
    while (year, month) != (end.year, end.month):
        elapsed_days += count_days_in_month(year, month)
        total = (doubled_numerator * elapsed_days + half) // divisor
        if total != previous_total:
            parts[date(year, month, 1)] = Decimal(
                previous_total - total if negative else total - previous_total
            ).scaleb(-units)
            previous_total = total
        year, month = (year, month + 1) if month < 12 else (year + 1, 1)
    remainder = amount - Decimal(-previous_total if negative else previous_total).scaleb(-units)
    if remainder:
        parts[date(year, month, 1)] = remainder
    return parts


def _check_period_order(start: date, end: date) -> None:
    if end < start:
        raise ValueError(f"The period ends on {end}, before it starts on {start}.")
