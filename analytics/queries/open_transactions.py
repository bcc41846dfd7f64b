"""Open transactions: booked money that is not categorized yet."""

from dataclasses import dataclass
from datetime import date
from decimal import Decimal

from django.db import connection

from companies.models import Company
from ledger.models import Source
from ledger.money.calc.fx import RateTable, convert_currency
from ledger.money.calc.money import MONEY_CONTEXT, round_half_up

ZERO = Decimal(0)


@dataclass(frozen=True, slots=True)
class OpenTransactions:
    """Number of open transactions and their uncategorized amounts, both ≥ 0, in the base currency.

    `partly` are those of which a part is categorized.
    """

    count: int
    inflow: Decimal
    outflow: Decimal
    partly: int = 0


# Raw SQL, since several pages run it. ORM: 4.4 x.
_OPEN = """
    SELECT date, amount_currency, count(*), count(*) FILTER (WHERE categorized_value <> 0),
           coalesce(sum(amount_value - categorized_value) FILTER (WHERE amount_value > 0), 0),
           coalesce(sum(categorized_value - amount_value) FILTER (WHERE amount_value < 0), 0)
      FROM ledger_transaction
     WHERE company_id = %(company)s AND NOT pending AND amount_value <> categorized_value
       AND source <> %(initial)s AND date BETWEEN %(start)s AND %(end)s
     GROUP BY date, amount_currency
"""


def sum_open_transactions(*, company: Company, start: date, end: date, rates: RateTable) -> OpenTransactions:
    """Sum open transactions from `start` to `end`, each at its day's rate; one statement.

    As in the profit and loss, pending transactions and initial balances are left out, and transit accounts
    count.

    Raises:
        MissingRate: a currency has no exchange rate.
    """
    with connection.cursor() as cursor:
        cursor.execute(_OPEN, {"company": company.id, "initial": Source.INITIAL_BALANCE, "start": start, "end": end})
        rows_by_day = cursor.fetchall()
    count, partly, inflow, outflow = 0, 0, ZERO, ZERO
    for day, currency, row_count, split_count, inflow_amount, outflow_amount in rows_by_day:
        count, partly = count + row_count, partly + split_count
        inflow = MONEY_CONTEXT.add(
            inflow, convert_currency(inflow_amount, source=currency, target=company.base_currency, day=day, rates=rates)
        )
        outflow = MONEY_CONTEXT.add(
            outflow,
            convert_currency(outflow_amount, source=currency, target=company.base_currency, day=day, rates=rates),
        )
    base = company.base_currency
    return OpenTransactions(count, round_half_up(inflow, base), round_half_up(outflow, base), partly)
