"""Account balances at the end of a day, per currency, and their value in the company's base currency."""

from collections import defaultdict
from datetime import date
from decimal import Decimal
from uuid import UUID

from django.db import connection

from ledger.calc.months import get_first_day_of_month
from ledger.money.calc.fx import RateTable, convert_currency
from ledger.money.calc.money import MONEY_CONTEXT, round_half_up

ZERO = Decimal(0)
AmountsByCurrency = dict[str, Decimal]

# Raw SQL, since every report runs it, some of them several times. ORM: 3.6 x.
_SUM_BALANCES = """
    SELECT account_id, currency, sum(amount) FROM (
        SELECT account_id, currency, amount FROM ledger_monthmovement
         WHERE company_id = %(company)s AND month < %(month)s
        UNION ALL
        SELECT account_id, currency, amount FROM ledger_daymovement
         WHERE company_id = %(company)s AND date >= %(month)s AND date <= %(day)s
    ) AS moved GROUP BY account_id, currency
"""


def sum_account_balances(*, company_id: UUID, day: date) -> dict[UUID, AmountsByCurrency]:
    """Return the balance of each account at the end of a day, per currency.

    Sums the monthly totals before the month of `day` and the daily totals of that month.

    Returns:
        Account id -> currency -> amount. Accounts without booked transactions are left out.
    """
    balances: dict[UUID, AmountsByCurrency] = defaultdict(dict)
    with connection.cursor() as cursor:
        cursor.execute(_SUM_BALANCES, {"company": company_id, "month": get_first_day_of_month(day), "day": day})
        for account_id, currency, amount in cursor.fetchall():
            balances[account_id][currency] = amount
    return balances


def convert_balance_to_base(balance: AmountsByCurrency, *, base: str, day: date, rates: RateTable) -> Decimal:
    """Return the value of a balance in the base currency at the rates of a day, rounded once at the end.

    Raises:
        RateLookupError: a currency has no exchange rate.
    """
    total = ZERO
    for currency, amount in balance.items():
        total = MONEY_CONTEXT.add(total, convert_currency(amount, source=currency, target=base, day=day, rates=rates))
    return round_half_up(total, base)
