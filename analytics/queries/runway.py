"""How many months the cash lasts at the pace of the last months."""

from dataclasses import dataclass
from datetime import date
from decimal import ROUND_DOWN, Decimal
from typing import Any

from django.db import connection

from companies.models import Company
from ledger.calc.fx import RateTable, convert
from ledger.calc.money import WIDE, round_half_up
from ledger.calc.months import first_of_month
from ledger.models import AccountType

ZERO = Decimal(0)
TENTH = Decimal("0.1")
MOST_MONTHS = 3  # whole months over which the pace is taken


@dataclass(frozen=True, slots=True)
class Runway:
    """Cash now, what comes in less what goes out in a mean month, and how long the cash lasts at that pace.

    ``months`` are the first days of the months behind the mean, in order; without any ``monthly_net`` is None.
    ``runway_months`` is rounded down to a tenth and 0 where there is no cash; None where nothing burns.
    """

    cash: Decimal
    monthly_net: Decimal | None
    months: list[date]
    runway_months: Decimal | None


# Flows of the accounts that count as cash, on the days of the last whole months that have any: each found from the one
# after it, so that nothing is read of the years before.
_FLOWS = """
    WITH RECURSIVE cash (ids) AS (
        SELECT array_agg(id) FROM ledger_account
         WHERE company_id = %(company)s AND include_in_cash_balance AND type <> %(transit)s
    ), latest (month, place) AS (
        SELECT %(month)s::date, 0
         UNION ALL
        SELECT (SELECT date_trunc('month', date::timestamp)::date FROM ledger_daymovement
                 WHERE company_id = %(company)s AND date < latest.month AND (inflow <> 0 OR outflow <> 0)
                   AND account_id = ANY ((SELECT ids FROM cash)::uuid[])
                 ORDER BY date DESC LIMIT 1), place + 1
          FROM latest WHERE month IS NOT NULL AND place < %(most)s
    )
    SELECT month, date, currency, sum(inflow - outflow)
      FROM latest
      JOIN ledger_daymovement ON date >= month AND date < month + interval '1 month'
     WHERE place > 0 AND company_id = %(company)s AND (inflow <> 0 OR outflow <> 0)
       AND account_id = ANY ((SELECT ids FROM cash)::uuid[])
     GROUP BY month, date, currency
"""


def runway(*, company: Company, cash: Decimal, today: date, rates: RateTable) -> Runway:
    """Of the cash that there is today and the last three whole months with flows; fewer where there are fewer.

    Flows are those of ``cash_flow`` on the accounts that count as cash, each at its own day's rate. Raises MissingRate.
    """
    base, this_month = company.base_currency, first_of_month(today)
    asked: dict[str, Any] = {
        "company": company.id,
        "month": this_month,
        "transit": AccountType.TRANSIT,
        "most": MOST_MONTHS,
    }
    with connection.cursor() as cursor:
        cursor.execute(_FLOWS, asked)
        found = cursor.fetchall()
    months = sorted({month for month, *_ in found})
    if not months:
        return Runway(cash=cash, monthly_net=None, months=[], runway_months=None)
    net = ZERO
    for _, day, currency, amount in found:
        net = WIDE.add(net, convert(amount, source=currency, target=base, day=day, rates=rates))
    return Runway(
        cash=cash,
        monthly_net=round_half_up(WIDE.divide(net, Decimal(len(months))), base),
        months=months,
        runway_months=lasting(cash, net=net, months=len(months)),
    )


def lasting(cash: Decimal, *, net: Decimal, months: int) -> Decimal | None:
    """How many months cash lasts where so many of them came to ``net``, rounded down to a tenth; None without a burn.

    >>> lasting(Decimal(1000), net=Decimal(-900), months=3)
    Decimal('3.3')
    """
    if net >= 0:
        return None
    return WIDE.divide(max(cash, ZERO) * months, -net).quantize(TENTH, rounding=ROUND_DOWN, context=WIDE)
