"""What led from the cash at the start of a window to that at its end, and why it is not just what flowed."""

from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal
from typing import Any

from django.db import connection

from analytics.calc.bridges import closing as closed
from analytics.queries.balances import cash_on
from companies.models import Company
from ledger.calc.fx import RateTable, convert
from ledger.calc.money import WIDE
from ledger.models import Account, AccountType, Source

ZERO = Decimal(0)
ONE_DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class CashBridge:
    """opening + inflow - outflow - transfers_out + revaluation + non_cash = closing, exactly; base currency.

    ``inflow`` and ``outflow`` (≥ 0) are those of ``cash_flow``, on all accounts but transit ones. ``transfers_out`` is
    what was moved from cash to other accounts, less what came back. ``non_cash`` takes back what flowed on accounts
    that are no cash, and adds initial balances. ``revaluation`` is what rates did to the cash in other currencies.
    """

    opening: Decimal
    inflow: Decimal
    outflow: Decimal
    transfers_out: Decimal
    revaluation: Decimal
    non_cash: Decimal
    closing: Decimal


_MOVED = """
    SELECT date, currency, account_id = ANY (%(cash)s) AS cash, account_id = ANY (%(transit)s) AS transit,
           sum(amount), sum(inflow), sum(outflow)
      FROM ledger_daymovement
     WHERE company_id = %(company)s AND date BETWEEN %(start)s AND %(end)s
     GROUP BY 1, 2, 3, 4
"""
_INITIAL = """
    SELECT date, amount_currency, sum(amount_value)
      FROM ledger_transaction
     WHERE company_id = %(company)s AND source = %(initial)s AND NOT pending AND account_id = ANY (%(cash)s)
       AND date BETWEEN %(start)s AND %(end)s
     GROUP BY 1, 2
"""


def cash_bridge(*, company: Company, start: date, end: date, today: date, rates: RateTable) -> CashBridge:
    """Of the days from ``start`` to ``end``, today at the latest, each at its own rate. Raises MissingRate."""
    before, last = min(start - ONE_DAY, today), min(end, today)
    opening = cash_on(company=company, day=before, rates=rates)
    closing = cash_on(company=company, day=last, rates=rates)
    parts = moved(company=company, start=start, end=last, rates=rates)
    parts["revaluation"] = closing - opening - sum(parts.values(), ZERO)
    parts = {name: parts[name] for name in ("revaluation", "non_cash", "transfers_out", "outflow", "inflow")}
    told = closed(parts, change=closing - opening, base=company.base_currency)
    return CashBridge(
        opening=opening,
        inflow=told["inflow"],
        outflow=-told["outflow"],
        transfers_out=-told["transfers_out"],
        revaluation=told["revaluation"],
        non_cash=told["non_cash"],
        closing=closing,
    )


def moved(*, company: Company, start: date, end: date, rates: RateTable) -> dict[str, Decimal]:
    """What changed the cash, by kind, with the sign of the change; not rounded."""
    parts = dict.fromkeys(("inflow", "outflow", "transfers_out", "non_cash"), ZERO)

    def add(kind: str, amount: Decimal, currency: str, day: date) -> None:
        worth = convert(amount, source=currency, target=company.base_currency, day=day, rates=rates)
        parts[kind] = WIDE.add(parts[kind], worth)

    accounts = Account.objects.of(company.id).values_list("id", "include_in_cash_balance", "type")
    asked: dict[str, Any] = {
        "company": company.id,
        "start": start,
        "end": end,
        "initial": Source.INITIAL_BALANCE,
        "cash": [each for each, is_cash, _ in accounts if is_cash],
        "transit": [each for each, _, kind in accounts if kind == AccountType.TRANSIT],
    }
    with connection.cursor() as cursor:
        cursor.execute(_MOVED, asked)
        for day, currency, is_cash, transit, amount, inflow, outflow in cursor.fetchall():
            if not transit:
                add("inflow", inflow, currency, day)
                add("outflow", -outflow, currency, day)
            if is_cash:
                add("transfers_out", amount - inflow + outflow, currency, day)  # and initial balances: see below
                if transit:  # whose flows are not shown
                    add("non_cash", inflow - outflow, currency, day)
            elif not transit:
                add("non_cash", outflow - inflow, currency, day)
        cursor.execute(_INITIAL, asked)
        for day, currency, amount in cursor.fetchall():
            add("transfers_out", -amount, currency, day)
            add("non_cash", amount, currency, day)
    return parts
