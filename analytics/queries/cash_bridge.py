"""The cash bridge: what changed cash in a window, part by part."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal
from typing import Any
from urllib.parse import urlencode

from django.db import connection
from django.db.models import Case, Sum, When
from django.db.models.functions import Sign

from analytics.calc.bridge_rounding import round_bridge_parts
from analytics.queries.balances import compute_cash_at_day
from companies.models import Company
from ledger.models import Source
from ledger.money.calc.fx import RateTable, convert_currency
from ledger.money.calc.money import MONEY_CONTEXT, round_half_up
from ledger.transactions.queries.cash_parts import AMOUNT_FIELD, CashPart, list_cash_shares

ZERO = Decimal(0)
ONE_DAY = timedelta(days=1)
REVALUATION = "revaluation"
# In the order of the API. For rounding, parts that users cannot look up elsewhere come first.
PARTS = (
    CashPart.OPENING_BALANCES,
    CashPart.OPERATING_INFLOW,
    CashPart.OPERATING_OUTFLOW,
    CashPart.CARDS,
    CashPart.FINANCING,
    CashPart.EXCHANGE_RESULT,
    REVALUATION,
    CashPart.OTHER_TRANSFERS,
)
MOVED_PARTS_IN_ROUNDING_ORDER = (
    CashPart.EXCHANGE_RESULT,
    CashPart.OTHER_TRANSFERS,
    CashPart.FINANCING,
    CashPart.CARDS,
    CashPart.OPERATING_OUTFLOW,
    CashPart.OPERATING_INFLOW,
)


@dataclass(frozen=True, slots=True)
class CashBridge:
    """opening + the sum of `parts` = closing, to the cent. Base currency, each part with the sign of its change.

    The keys of `parts` are `PARTS`. `last` is the last day that counts, today at the latest.
    """

    opening: Decimal
    parts: Mapping[str, Decimal]
    closing: Decimal
    last: date


# Raw SQL: flows and initial balances in one statement. By the ORM the whole bridge takes 1.2 x.
_MOVEMENTS = """
    SELECT 'flow', date, currency, sum(inflow), -sum(outflow)
      FROM ledger_daymovement
     WHERE company_id = %(company)s AND date BETWEEN %(start)s AND %(end)s AND account_id = ANY (ARRAY(
               SELECT id FROM ledger_account WHERE company_id = %(company)s AND include_in_cash_balance
           ))
     GROUP BY date, currency
    UNION ALL
    SELECT 'initial', date, amount_currency, amount_value, 0
      FROM ledger_transaction
     WHERE company_id = %(company)s AND source = %(initial)s AND NOT pending AND date BETWEEN %(start)s AND %(end)s
       AND account_id = ANY (ARRAY(
               SELECT id FROM ledger_account WHERE company_id = %(company)s AND include_in_cash_balance
           ))
"""


def compute_cash_bridge(*, company: Company, start: date, end: date, today: date, rates: RateTable) -> CashBridge:
    """Compute what changed the cash from `start` to `end`, today at the latest, each day at its own rate.

    Raises:
        MissingRateError: a currency has no exchange rate on one of the days.
    """
    day_before, last = min(start - ONE_DAY, today), min(end, today)
    opening = compute_cash_at_day(company=company, day=day_before, rates=rates)
    closing = compute_cash_at_day(company=company, day=last, rates=rates)
    parts = sum_cash_parts(company=company, start=start, end=last, rates=rates)
    rounded = round_cash_parts(parts, change=closing - opening, base=company.base_currency)
    return CashBridge(opening=opening, parts={part: rounded[part] for part in PARTS}, closing=closing, last=last)


def round_cash_parts(parts: Mapping[str, Decimal], *, change: Decimal, base: str) -> dict[str, Decimal]:
    """Round the booked parts, and return them with the revaluation, which is the rest of the change.

    Opening balances are rounded by themselves and all other booked parts as one sum, as the runway rounds them:
    both then show the same revaluation.
    """
    opening_balances = round_half_up(parts[CashPart.OPENING_BALANCES], base)
    moved: dict[str, Decimal] = {part: parts[part] for part in MOVED_PARTS_IN_ROUNDING_ORDER}
    total_moved = round_half_up(sum(moved.values(), ZERO), base)
    return {
        CashPart.OPENING_BALANCES: opening_balances,
        REVALUATION: change - opening_balances - total_moved,
        **round_bridge_parts(moved, change=total_moved, base=base),
    }


def sum_cash_parts(*, company: Company, start: date, end: date, rates: RateTable) -> dict[str, Decimal]:
    """Return each part of the change of cash except the revaluation, with its sign; not rounded."""
    parts: dict[str, Decimal] = dict.fromkeys(CashPart, ZERO)

    def add_part(part: str, amount: Decimal, currency: str, day: date) -> None:
        base_amount = convert_currency(amount, source=currency, target=company.base_currency, day=day, rates=rates)
        parts[part] = MONEY_CONTEXT.add(parts[part], base_amount)

    values: dict[str, Any] = {
        "company": company.id,
        "start": start,
        "end": end,
        "initial": Source.INITIAL_BALANCE,
    }
    with connection.cursor() as cursor:
        cursor.execute(_MOVEMENTS, values)
        for kind, day, currency, amount, outflow in cursor.fetchall():
            if kind == "initial":
                add_part(CashPart.OPENING_BALANCES, amount, currency, day)
            else:
                add_part(CashPart.OPERATING_INFLOW, amount, currency, day)
                add_part(CashPart.OPERATING_OUTFLOW, outflow, currency, day)
    shares = list_cash_shares(company_id=company.id, start=start, end=end).order_by()
    flow_sign = Case(When(counter__isnull=True, then=Sign("transaction__amount_value")), output_field=AMOUNT_FIELD)
    columns = ("cash_part", "transaction__date", "transaction__amount_currency", "flow_sign")
    sums = shares.annotate(flow_sign=flow_sign).values_list(*columns).annotate(Sum("value"))
    for part, day, currency, sign, amount in sums:
        add_part(part, amount, currency, day)
        if sign:  # no transfer leg, so it is part of the flows
            add_part(CashPart.OPERATING_INFLOW if sign > 0 else CashPart.OPERATING_OUTFLOW, -amount, currency, day)
    return parts


def build_part_queries(*, start: date, end: date) -> dict[str, str | None]:
    """Return the query of the list of transactions behind the opening, each part and the closing.

    None for the revaluation: rates change the worth of cash without a transaction.
    """
    window = {"startDate": start.isoformat(), "endDate": end.isoformat(), "total": "true"}
    balance_parameters = {"cash": "true", "pending": "false", "total": "true"}
    queries: dict[str, str | None] = {
        "opening": urlencode(balance_parameters | {"endDate": (start - ONE_DAY).isoformat()})
    }
    for part in PARTS:
        queries[part] = None if part == REVALUATION else urlencode({"cashPart": str(part)} | window)
    queries["closing"] = urlencode(balance_parameters | {"endDate": end.isoformat()})
    return queries
