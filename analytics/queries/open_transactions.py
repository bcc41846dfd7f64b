"""What is missing in the profit and loss: booked money that is not categorized yet."""

from dataclasses import dataclass
from datetime import date
from decimal import Decimal

from django.db import connection

from companies.models import Company
from ledger.calc.fx import RateTable, convert
from ledger.calc.money import WIDE, round_half_up
from ledger.models import Source

ZERO = Decimal(0)


@dataclass(frozen=True, slots=True)
class OpenTransactions:
    """How many there are, and what of them is not categorized; both amounts ≥ 0, base currency. ``partly`` are those of
    which something is categorized."""

    count: int
    inflow: Decimal
    outflow: Decimal
    partly: int = 0


# The framework would take 3.5 ms to put this together, and the database far less than one to answer it.
_OPEN = """
    SELECT date, amount_currency, count(*), count(*) FILTER (WHERE categorized_value <> 0),
           coalesce(sum(amount_value - categorized_value) FILTER (WHERE amount_value > 0), 0),
           coalesce(sum(categorized_value - amount_value) FILTER (WHERE amount_value < 0), 0)
      FROM ledger_transaction
     WHERE company_id = %(company)s AND NOT pending AND amount_value <> categorized_value
       AND source <> %(initial)s AND date BETWEEN %(start)s AND %(end)s
     GROUP BY date, amount_currency
"""


def open_transactions(*, company: Company, start: date, end: date, rates: RateTable) -> OpenTransactions:
    """Of the days from ``start`` to ``end``, each at its own rate; one statement. Raises MissingRate.

    As in the profit and loss, pending transactions and initial balances are left out and transit accounts count.
    """
    with connection.cursor() as cursor:
        cursor.execute(_OPEN, {"company": company.id, "initial": Source.INITIAL_BALANCE, "start": start, "end": end})
        by_day = cursor.fetchall()
    count, partly, inflow, outflow = 0, 0, ZERO, ZERO
    for day, currency, found, split, came, went in by_day:
        count, partly = count + found, partly + split
        inflow = WIDE.add(inflow, convert(came, source=currency, target=company.base_currency, day=day, rates=rates))
        outflow = WIDE.add(outflow, convert(went, source=currency, target=company.base_currency, day=day, rates=rates))
    base = company.base_currency
    return OpenTransactions(count, round_half_up(inflow, base), round_half_up(outflow, base), partly)
