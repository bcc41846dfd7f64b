"""What is expected of a whole company: its occurrences as flows, its plan as results. No clock."""

import datetime as dt
from collections.abc import Collection, Iterator, Sequence
from decimal import Decimal
from itertools import groupby
from typing import Any, NamedTuple
from uuid import UUID

from django.db import connection

from companies.models import Company
from ledger.calc.fx import RateTable, convert
from ledger.calc.money import WIDE
from ledger.calc.months import last_of_month, months_between
from ledger.models import Account, AccountType
from planning.calc.plan import PlanAmount, PlanItem, postings
from planning.calc.recurrence import Occurrence, Rule, expand, occurrences
from planning.models import patch_of

Result = tuple[dt.date, str, UUID]  # first day of month, P&L line, category


class PlannedFlow(NamedTuple):
    """One expected movement: negative is money out; without an account where none is named."""

    date: dt.date
    amount: Decimal
    currency: str
    account_id: UUID | None
    planned_id: UUID
    original_date: dt.date


class PlannedRule(NamedTuple):
    """What the forecast needs of a planned transaction, without a model's weight; columns of ``_REACHING``."""

    id: UUID
    account_id: UUID | None
    amount: Decimal
    currency: str
    start: dt.date
    frequency: str | None
    interval: int
    last_day_of_month: bool
    end_date: dt.date | None
    end_count: int | None

    def rule(self) -> Rule:
        """The columns from ``start`` on are in the order of the rule's fields."""
        return Rule(*self[4:])  # type: ignore[arg-type]


# What can have an occurrence in the window, as ``touching`` has it, each with all that differs about its occurrences.
_REACHING = """
    SELECT p.id, p.account_id, p.amount_value, p.amount_currency, p.start_date, p.frequency, p.interval,
           p.last_day_of_month, p.end_date, p.end_count,
           o.original_date, o.skipped, o.date, o.amount_value, o.account_id, o.category_id, o.name, o.transaction_id
      FROM planning_plannedtransaction AS p
      LEFT JOIN planning_plannedoverride AS o ON o.company_id = p.company_id AND o.planned_id = p.id
     WHERE p.company_id = %(company)s AND (%(rules)s::uuid[] IS NULL OR p.id = ANY (%(rules)s::uuid[])) AND (
           p.start_date <= %(end)s AND (
               p.start_date >= %(start)s OR p.frequency IS NOT NULL AND (p.end_date IS NULL OR p.end_date >= %(start)s))
           OR p.id IN (SELECT planned_id FROM planning_plannedoverride
                        WHERE company_id = %(company)s AND date BETWEEN %(start)s AND %(end)s))
     ORDER BY p.id
"""
COLUMNS = len(PlannedRule.__annotations__)  # of the rule; behind them the override's


def planned_flows(
    company: Company, window_start: dt.date, window_end: dt.date, *, rules: Collection[UUID] | None = None
) -> Iterator[PlannedFlow]:
    """Every occurrence that falls into the window, both ends included, and is neither skipped nor settled.

    By the day it is moved to, with the amount and account of its override; of all rules or of those given. In no order.
    One query, however many rules there are.
    """
    plain, patched = expectations(company, window_start, window_end, rules=rules)
    for planned in plain:
        for day in occurrences(planned.rule(), window_start=window_start, window_end=window_end):
            yield PlannedFlow(day, planned.amount, planned.currency, planned.account_id, planned.id, day)
    yield from patched


def transit_accounts(company: Company) -> set[UUID]:
    """What is expected on these is no flow."""
    return set(Account.objects.of(company.id).filter(type=AccountType.TRANSIT).values_list("id", flat=True))


def expectations(
    company: Company,
    window_start: dt.date,
    window_end: dt.date,
    *,
    rules: Collection[UUID] | None = None,
    left_out: Collection[UUID] = frozenset(),
) -> tuple[list[PlannedRule], list[PlannedFlow]]:
    """What can reach the window: rules that nothing overrides, and the flows of those with overrides; but none on
    accounts that are left out."""
    asked: dict[str, Any] = {"company": company.id, "start": window_start, "end": window_end}
    plain: list[PlannedRule] = []
    flows: list[PlannedFlow] = []
    with connection.cursor() as cursor:
        cursor.execute(_REACHING, asked | {"rules": None if rules is None else list(rules)})
        found = cursor.fetchall()
    for columns, rows in groupby(found, key=lambda row: row[:COLUMNS]):
        planned = PlannedRule(*columns)
        differing = (row[COLUMNS:] for row in rows)
        patches = {day: patch for day, *values in differing if (patch := patch_of(values))}
        if patches:
            occurring = expand(planned.rule(), patches, window_start=window_start, window_end=window_end)
            flows += [flow for flow in patched_flows(planned, occurring) if flow.account_id not in left_out]
        elif planned.account_id not in left_out:
            plain.append(planned)
    return plain, flows


def patched_flows(planned: PlannedRule, found: list[Occurrence]) -> Iterator[PlannedFlow]:
    """The occurrences as flows; what is skipped or settled is left out."""
    for occurrence in found:
        patch: Any = occurrence.patch
        if occurrence.skipped or "transaction_id" in patch:
            continue
        account_id = patch.get("account_id", planned.account_id)
        amount = patch.get("amount_value", planned.amount)
        yield PlannedFlow(occurrence.date, amount, planned.currency, account_id, planned.id, occurrence.original_date)


_ITEMS = """
    SELECT pl_type, category_id, amount_currency, month, frequency, duration, amount_type, amount_value, relative_change
      FROM planning_planitem
     WHERE company_id = %(company)s AND month <= %(last)s
"""


def planned_results(company: Company, months: list[dt.date]) -> dict[Result, list[tuple[Decimal, str]]]:
    """What the plan says: (month, P&L line, category) → sums by currency, not rounded. One query.

    ``months`` are first days of consecutive months, in order.
    """
    if not months:
        return {}
    sums: dict[Result, dict[str, Decimal]] = {}
    with connection.cursor() as cursor:
        cursor.execute(_ITEMS, {"company": company.id, "last": months[-1]})
        found = cursor.fetchall()
    for pl_type, category_id, currency, month, frequency, duration, *amount in found:
        if duration is not None and months_between(month, months[0]) >= duration:
            continue
        item = PlanItem(month, PlanAmount(*(each for each in amount if each is not None)), frequency, duration)
        for posted, value in postings(item, window_start=months[0], window_end=months[-1]).items():
            by_currency = sums.setdefault((posted, pl_type, category_id), {})
            by_currency[currency] = by_currency.get(currency, Decimal(0)) + value
    return {key: [(value, currency) for currency, value in each.items()] for key, each in sums.items()}


def planned_in_base(company: Company, months: Sequence[dt.date], rates: RateTable) -> dict[Result, Decimal]:
    """What the plan comes to in the base currency, at each month's latest rate; not rounded. Raises MissingRate."""
    found: dict[Result, Decimal] = {}
    for key, sums in planned_results(company, list(months)).items():
        for amount, currency in sums:
            day = last_of_month(key[0])
            worth = convert(amount, source=currency, target=company.base_currency, day=day, rates=rates)
            found[key] = WIDE.add(found.get(key, Decimal(0)), worth)
    return found
