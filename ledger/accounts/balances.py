"""What accounts hold at the end of a day, and what that is worth in the company's base currency."""

from collections import defaultdict
from datetime import date
from decimal import Decimal
from uuid import UUID

from django.db import connection

from ledger.calc.fx import RateTable, convert
from ledger.calc.money import WIDE, round_half_up
from ledger.calc.months import first_of_month

ZERO = Decimal(0)
ByCurrency = dict[str, Decimal]

_BALANCES = """
    SELECT account_id, currency, sum(amount) FROM (
        SELECT account_id, currency, amount FROM ledger_monthmovement
         WHERE company_id = %(company)s AND month < %(month)s
        UNION ALL
        SELECT account_id, currency, amount FROM ledger_daymovement
         WHERE company_id = %(company)s AND date >= %(month)s AND date <= %(day)s
    ) AS moved GROUP BY account_id, currency
"""


def balances_on(*, company_id: UUID, day: date) -> dict[UUID, ByCurrency]:
    """Per account, what it holds in each currency at the end of a day: the months before and the days of this one."""
    found: dict[UUID, ByCurrency] = defaultdict(dict)
    with connection.cursor() as cursor:
        cursor.execute(_BALANCES, {"company": company_id, "month": first_of_month(day), "day": day})
        for account_id, currency, amount in cursor.fetchall():
            found[account_id][currency] = amount
    return found


def in_base(held: ByCurrency, *, base: str, day: date, rates: RateTable) -> Decimal:
    """What the holdings are worth in the base currency on a day, rounded once. Raises MissingRate."""
    worth = ZERO
    for currency, amount in held.items():
        worth = WIDE.add(worth, convert(amount, source=currency, target=base, day=day, rates=rates))
    return round_half_up(worth, base)
