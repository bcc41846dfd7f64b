"""Runway: how many months cash lasts at the pace of the last months."""

from dataclasses import dataclass, field
from datetime import date
from decimal import ROUND_DOWN, Decimal
from typing import Any

from django.db import connection
from django.db.models import Sum

from analytics.queries.balances import ONE_DAY, compute_cash_at_day
from companies.models import Company
from ledger.calc.months import get_first_day_of_month, get_last_day_of_month
from ledger.models import Source
from ledger.money.calc.fx import RateTable, convert_currency
from ledger.money.calc.money import MONEY_CONTEXT, round_half_up
from ledger.transactions.queries.cash_parts import list_financing_shares

ZERO = Decimal(0)
TENTH = Decimal("0.1")
MAX_AVERAGED_MONTHS = 3  # whole months that are averaged


@dataclass(frozen=True, slots=True)
class Runway:
    """Cash today, its mean monthly change without financing, and how long it lasts at that pace. Base currency.

    `months` are the first days of the months behind the mean, in order; without any, `monthly_net` is None.
    `movements` is what was booked on cash accounts in them, at each day's rate and without `opening_balances`;
    `financing_inflow` is what of it came from owners and lenders. `runway_months` is rounded down to a tenth; it is 0
    without cash, None without burn.
    """

    cash: Decimal
    monthly_net: Decimal | None
    months: list[date]
    runway_months: Decimal | None
    movements: Decimal = field(default=ZERO)
    opening_balances: Decimal = field(default=ZERO)
    financing_inflow: Decimal = field(default=ZERO)


@dataclass(frozen=True, slots=True)
class CashChange:
    """The change of cash over the months of a runway, and what of it exchange rates did. Base currency.

    `change` is without initial balances: change − revaluation = the runway's movements, to the cent.
    """

    change: Decimal
    revaluation: Decimal


# The last whole months with bookings on cash accounts, each found from the one after it, so that nothing of earlier
# years is read; then what was booked in them. An initial balance is no booking.
_MOVEMENTS = """
    WITH RECURSIVE cash (ids) AS (
        SELECT array_agg(id) FROM ledger_account WHERE company_id = %(company)s AND include_in_cash_balance
    ), initial AS MATERIALIZED (
        SELECT account_id, date, amount_currency AS currency, amount_value AS amount FROM ledger_transaction
         WHERE company_id = %(company)s AND source = %(initial)s AND NOT pending
           AND account_id = ANY ((SELECT ids FROM cash)::uuid[])
    ), latest (month, place) AS (
        SELECT %(month)s::date, 0
         UNION ALL
        SELECT (SELECT date_trunc('month', date::timestamp)::date FROM ledger_daymovement AS day
                 WHERE company_id = %(company)s AND date < latest.month AND count > 0
                   AND account_id = ANY ((SELECT ids FROM cash)::uuid[])
                   AND (count > 1 OR NOT EXISTS (
                       SELECT FROM initial WHERE initial.account_id = day.account_id AND initial.date = day.date
                          AND initial.currency = day.currency
                   ))
                 ORDER BY date DESC LIMIT 1), place + 1
          FROM latest WHERE month IS NOT NULL AND place < %(most)s
    )
    SELECT month, date, currency, sum(amount), sum(opening) FROM (
        SELECT date, currency, amount, 0 AS opening FROM ledger_daymovement
         WHERE company_id = %(company)s AND count > 0 AND account_id = ANY ((SELECT ids FROM cash)::uuid[])
           AND date >= (SELECT min(month) FROM latest) AND date < %(month)s
         UNION ALL
        SELECT date, currency, -amount, amount FROM initial
    ) AS moved JOIN latest ON place > 0 AND date >= month AND date < month + interval '1 month'
     GROUP BY month, date, currency
"""


def compute_runway(*, company: Company, cash: Decimal, today: date, rates: RateTable) -> Runway:
    """Compute how long `cash` lasts at the pace of the last three whole months with bookings on cash accounts.

    Fewer months count where there are fewer. All that changes the cash counts, transfers to cards and loans too; what
    exchange rates do to it, initial balances and financing inflow do not.

    Raises:
        MissingRateError: a currency has no exchange rate on the day of a booking.
    """
    movements = list_cash_movements(company=company, today=today)
    months = sorted({month for month, *_ in movements})
    if not months:
        return Runway(cash=cash, monthly_net=None, months=[], runway_months=None)
    base = company.base_currency
    total_movements = sum_in_base_currency(
        [(day, currency, amount) for _, day, currency, amount, _ in movements], base=base, rates=rates
    )
    initial_balances = sum_in_base_currency(
        [(day, currency, amount) for _, day, currency, _, amount in movements], base=base, rates=rates
    )
    financing_inflow = sum_in_base_currency(
        list_financing_inflow(company=company, months=months), base=base, rates=rates
    )
    net = total_movements - financing_inflow
    return Runway(
        cash=cash,
        monthly_net=round_half_up(MONEY_CONTEXT.divide(net, Decimal(len(months))), base),
        months=months,
        runway_months=count_months_left(cash, net=net, months=len(months)),
        movements=total_movements,
        opening_balances=initial_balances,
        financing_inflow=financing_inflow,
    )


def list_cash_movements(*, company: Company, today: date) -> list[tuple[date, date, str, Decimal, Decimal]]:
    """Return (month, day, currency, amount, initial balances) of cash accounts in the months behind the pace."""
    values: dict[str, Any] = {
        "company": company.id,
        "month": get_first_day_of_month(today),
        "initial": Source.INITIAL_BALANCE,
        "most": MAX_AVERAGED_MONTHS,
    }
    with connection.cursor() as cursor:
        cursor.execute(_MOVEMENTS, values)
        return cursor.fetchall()


def list_financing_inflow(*, company: Company, months: list[date]) -> list[tuple[date, str, Decimal]]:
    """Return (day, currency, amount) of the money that came into cash accounts from owners and lenders in months."""
    shares = list_financing_shares(company_id=company.id, start=months[0], end=get_last_day_of_month(months[-1]))
    rows = shares.filter(transaction__amount_value__gt=0).order_by()
    values = rows.values_list("transaction__date", "transaction__amount_currency").annotate(Sum("value"))
    return [(day, currency, amount) for day, currency, amount in values if get_first_day_of_month(day) in months]


def sum_in_base_currency(amounts: list[tuple[date, str, Decimal]], *, base: str, rates: RateTable) -> Decimal:
    """Return the sum of (day, currency, amount), each at its day's rate, rounded once."""
    total = ZERO
    for day, currency, amount in amounts:
        total = MONEY_CONTEXT.add(total, convert_currency(amount, source=currency, target=base, day=day, rates=rates))
    return round_half_up(total, base)


def count_months_left(cash: Decimal, *, net: Decimal, months: int) -> Decimal | None:
    """Return how many months cash lasts where so many came to `net`, rounded down to a tenth; None without burn.

    >>> count_months_left(Decimal(1000), net=Decimal(-900), months=3)
    Decimal('3.3')
    """
    if net >= 0:
        return None
    return MONEY_CONTEXT.divide(max(cash, ZERO) * months, -net).quantize(
        TENTH, rounding=ROUND_DOWN, context=MONEY_CONTEXT
    )


def compute_cash_change(runway: Runway, *, company: Company, rates: RateTable) -> CashChange:
    """Compute how the cash changed over a runway's months, without initial balances.

    Raises:
        MissingRateError: a currency has no exchange rate at the end of a month.
    """
    ends = {day for month in runway.months for day in (month - ONE_DAY, get_last_day_of_month(month))}
    cash_by_day = {day: compute_cash_at_day(company=company, day=day, rates=rates) for day in ends}
    change = sum(
        (cash_by_day[get_last_day_of_month(month)] - cash_by_day[month - ONE_DAY] for month in runway.months),
        start=ZERO,
    )
    change -= runway.opening_balances
    return CashChange(change=change, revaluation=change - runway.movements)
