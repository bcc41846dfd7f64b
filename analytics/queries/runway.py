"""Runway: how many months cash lasts at the pace of the last months."""

from dataclasses import dataclass, field
from datetime import date
from decimal import ROUND_DOWN, Decimal
from typing import Any, NamedTuple

from django.db import connection

from analytics.queries.balances import ONE_DAY, compute_cash_at_day
from companies.models import Company
from ledger.calc.months import get_first_day_of_month, get_last_day_of_month
from ledger.models import AccountType, Source
from ledger.money.calc.fx import RateTable, convert_currency
from ledger.money.calc.money import MONEY_CONTEXT, round_half_up

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
# years is read; then what was booked in them. An initial balance is no booking. Financing inflow is what `CashPart`
# calls financing; it is looked up by category and by loan, since few transactions are. One statement for all takes 7 ms
# less of the overview than a second one by the ORM.
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
    SELECT month, date, currency, sum(amount), sum(opening), sum(financing) FROM (
        SELECT date, currency, amount, 0 AS opening, 0 AS financing FROM ledger_daymovement
         WHERE company_id = %(company)s AND count > 0 AND account_id = ANY ((SELECT ids FROM cash)::uuid[])
           AND date >= (SELECT min(month) FROM latest) AND date < %(month)s
         UNION ALL
        SELECT date, currency, -amount, amount, 0 FROM initial
         UNION ALL
        SELECT t.date, t.amount_currency, 0, 0, financing.value FROM (
            SELECT c.transaction_id, c.value
              FROM ledger_category AS category
              JOIN ledger_categorization AS c ON c.company_id = category.company_id AND c.category_id = category.id
             WHERE category.company_id = %(company)s AND category.financing AND c.counter_id IS NULL
             UNION ALL
            SELECT transaction_id, value FROM ledger_categorization
             WHERE company_id = %(company)s AND id = ANY (ARRAY(
                SELECT leg.counter_id
                  FROM ledger_account AS loan
                  JOIN ledger_transaction AS other ON other.company_id = loan.company_id AND other.account_id = loan.id
                  JOIN ledger_categorization AS leg
                    ON leg.company_id = loan.company_id AND leg.transaction_id = other.id
                 WHERE loan.company_id = %(company)s AND loan.type = %(loan)s AND NOT loan.include_in_cash_balance
                   AND leg.counter_id IS NOT NULL
             ))
        ) AS financing
          JOIN ledger_transaction AS t ON t.company_id = %(company)s AND t.id = financing.transaction_id
         WHERE t.account_id = ANY ((SELECT ids FROM cash)::uuid[]) AND NOT t.pending AND t.source <> %(initial)s
           AND t.amount_value > 0 AND t.date >= (SELECT min(month) FROM latest) AND t.date < %(month)s
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
    months = sorted({movement.month for movement in movements})
    if not months:
        return Runway(cash=cash, monthly_net=None, months=[], runway_months=None)
    base = company.base_currency
    total_movements, initial_balances, financing_inflow = (
        sum_in_base_currency(
            [(each.date, each.currency, amount) for each in movements if (amount := getattr(each, name))],
            base=base,
            rates=rates,
        )
        for name in ("amount", "initial_balance", "financing_inflow")
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


class CashMovement(NamedTuple):
    """What was booked on cash accounts on a day in a currency, and what of it is financing; `amount` has both signs."""

    month: date
    date: date
    currency: str
    amount: Decimal
    initial_balance: Decimal  # not part of the amount
    financing_inflow: Decimal


def list_cash_movements(*, company: Company, today: date) -> list[CashMovement]:
    """Return the movements of the months behind the pace."""
    values: dict[str, Any] = {
        "company": company.id,
        "month": get_first_day_of_month(today),
        "initial": Source.INITIAL_BALANCE,
        "loan": AccountType.LOAN,
        "most": MAX_AVERAGED_MONTHS,
    }
    with connection.cursor() as cursor:
        cursor.execute(_MOVEMENTS, values)
        return [CashMovement(*row) for row in cursor.fetchall()]


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
