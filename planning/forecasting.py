"""What is expected of a whole company: its occurrences as flows, its plan as results. No clock."""

import datetime as dt
from collections.abc import Collection, Iterable, Iterator, Sequence
from decimal import Decimal
from typing import Any, NamedTuple
from uuid import UUID

from django.db import connection

from companies.models import Company
from ledger.calc.fx import RateTable, convert
from ledger.calc.money import WIDE
from ledger.calc.months import first_of_month, last_of_month, months_between
from ledger.models import Account, AccountType
from planning.calc.plan import PlanAmount, PlanItem, postings
from planning.calc.recurrence import Occurrence, Overrides, expand, occurrences
from planning.models import SettledBy
from planning.rules import PlannedRule, read_rules
from planning.totals import NOTHING_SETTLED, SettledAmounts, find_settled_amounts

ZERO = Decimal(0)
Result = tuple[dt.date, str, UUID]  # first day of month, P&L line, category


class PlannedFlow(NamedTuple):
    """One expected movement: negative is money out; without an account where none is named."""

    date: dt.date
    amount: Decimal
    currency: str
    account_id: UUID | None
    planned_id: UUID
    original_date: dt.date


Plans = tuple[list[PlannedRule], list[PlannedFlow]]
"""Rules that nothing overrides, and the flows of the others."""


def planned_flows(
    company: Company, window_start: dt.date, window_end: dt.date, *, rules: Collection[UUID] | None = None
) -> Iterator[PlannedFlow]:
    """Every occurrence that one transaction settles, falls into the window and is neither skipped nor settled.

    Both ends of the window are included. By the day it is moved to, with the amount and account of its override; of
    all rules or of those given. Planned totals are left out. In no order. One query, however many rules there are.
    """
    found = read_rules(company.id, window_start, window_end, rules=rules, settled_by=SettledBy.TRANSACTION)
    for planned, patches in found:
        occurring = expand(planned.rule(), patches, window_start=window_start, window_end=window_end)
        yield from open_flows_of(planned, occurring)


def open_flows(
    company: Company, window_start: dt.date, window_end: dt.date, *, today: dt.date, rates: RateTable
) -> Iterator[PlannedFlow]:
    """The same with planned totals, which come with their open amount.

    Raises:
        MissingRate: a currency has no exchange rate.
    """
    plain, flows = expectations(company, window_start, window_end, today=today, rates=rates)
    for planned in plain:
        for day in occurrences(planned.rule(), window_start=window_start, window_end=window_end):
            yield PlannedFlow(day, planned.amount, planned.currency, planned.account_id, planned.id, day)
    yield from flows


def transit_accounts(company: Company) -> set[UUID]:
    """What is expected on these is no flow."""
    return set(Account.objects.of(company.id).filter(type=AccountType.TRANSIT).values_list("id", flat=True))


def expectations(
    company: Company,
    window_start: dt.date,
    window_end: dt.date,
    *,
    today: dt.date,
    rates: RateTable,
    left_out: Collection[UUID] = frozenset(),
) -> Plans:
    """What can reach the window: rules that nothing overrides, and the flows of those with overrides and of planned
    totals; but none on accounts that are left out.

    A planned total is expected with its open amount, and no longer once its month has ended. One statement, and a
    second where there are planned totals.

    Raises:
        MissingRate: a currency has no exchange rate.
    """
    plain: list[PlannedRule] = []
    flows: list[PlannedFlow] = []
    totals: list[tuple[PlannedRule, Overrides]] = []
    # Planned totals share what is booked in a month, so all of the month's are read.
    for planned, patches in read_rules(company.id, first_of_month(window_start), last_of_month(window_end)):
        if planned.is_total:
            totals.append((planned, patches))
        elif patches:
            occurring = expand(planned.rule(), patches, window_start=window_start, window_end=window_end)
            flows += [flow for flow in open_flows_of(planned, occurring) if flow.account_id not in left_out]
        elif planned.account_id not in left_out:
            plain.append(planned)
    start = max(window_start, first_of_month(today))
    if start <= window_end:
        settled = find_settled_amounts(company.id, totals, start=start, end=window_end, rates=rates)
        for planned, patches in totals:
            occurring = expand(planned.rule(), patches, window_start=start, window_end=window_end)
            found = open_flows_of(planned, occurring, settled)
            flows += [flow for flow in found if flow.amount and flow.account_id not in left_out]
    return plain, flows


def open_flows_of(
    planned: PlannedRule, found: Iterable[Occurrence], settled: SettledAmounts = NOTHING_SETTLED
) -> Iterator[PlannedFlow]:
    """The open amounts of the occurrences as flows; what is skipped or settled by a transaction is left out."""
    for occurrence in found:
        patch: Any = occurrence.patch
        if occurrence.skipped or occurrence.transaction_id is not None:
            continue
        account_id = patch.get("account_id", planned.account_id)
        original_date = occurrence.original_date
        amount = patch.get("amount_value", planned.amount) - settled.get((planned.id, original_date), ZERO)
        yield PlannedFlow(occurrence.date, amount, planned.currency, account_id, planned.id, original_date)


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
