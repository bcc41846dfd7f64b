"""Planned flows of a company's occurrences, and planned results of its financial plan."""

import datetime as dt
from collections.abc import Collection, Iterable, Iterator, Sequence
from decimal import Decimal
from typing import Any, NamedTuple
from uuid import UUID

from django.db import connection

from companies.models import Company
from ledger.calc.months import count_months_between, get_first_day_of_month, get_last_day_of_month
from ledger.models import Account, AccountType
from ledger.money.calc.fx import RateTable, convert
from ledger.money.calc.money import MONEY_CONTEXT
from planning.calc.plan_postings import PlanAmount, PlanItemSchedule, compute_plan_postings
from planning.calc.recurrence import Occurrence, Overrides, expand_occurrences, occurrences
from planning.models import SettledBy
from planning.planned_transactions.queries.planned_rules import PlannedRule, iter_planned_rules
from planning.planned_transactions.queries.settled_totals import (
    NOTHING_SETTLED,
    SettledAmounts,
    find_settled_amounts_of_rules,
)

ZERO = Decimal(0)
ResultKey = tuple[dt.date, str, UUID]  # first day of month, P&L line, category


class PlannedFlow(NamedTuple):
    """An expected payment: negative is money out; `account_id` is None without an account."""

    date: dt.date
    amount: Decimal
    currency: str
    account_id: UUID | None
    planned_id: UUID
    original_date: dt.date


Expectations = tuple[list[PlannedRule], list[PlannedFlow]]
"""Rules that nothing overrides, and the flows of the others."""


def iter_planned_flows(
    company: Company, window_start: dt.date, window_end: dt.date, *, rules: Collection[UUID] | None = None
) -> Iterator[PlannedFlow]:
    """Yield the open occurrences in [window_start, window_end] that a single transaction settles.

    Overrides of day, amount and account are applied. Planned totals are left out. In no order; one statement.

    Args:
        rules: ids of the planned transactions; None: all.
    """
    rules_with_overrides = iter_planned_rules(
        company.id, window_start, window_end, rules=rules, settled_by=SettledBy.TRANSACTION
    )
    for planned, overrides in rules_with_overrides:
        rule_occurrences = expand_occurrences(
            planned.recurrence_rule(), overrides, window_start=window_start, window_end=window_end
        )
        yield from iter_flows_of_rule(planned, rule_occurrences)


def iter_open_flows(
    company: Company, window_start: dt.date, window_end: dt.date, *, today: dt.date, rates: RateTable
) -> Iterator[PlannedFlow]:
    """Yield the open occurrences in [window_start, window_end]; planned totals with their open amount.

    Raises:
        MissingRate: a currency has no exchange rate.
    """
    unchanged_rules, flows = find_expectations_in_window(company, window_start, window_end, today=today, rates=rates)
    for planned in unchanged_rules:
        for day in occurrences(planned.recurrence_rule(), window_start=window_start, window_end=window_end):
            yield PlannedFlow(day, planned.amount, planned.currency, planned.account_id, planned.id, day)
    yield from flows


def find_transit_account_ids(company: Company) -> set[UUID]:
    """Return the ids of transit accounts; occurrences on them are no flows."""
    return set(Account.objects.for_company(company.id).filter(type=AccountType.TRANSIT).values_list("id", flat=True))


def find_expectations_in_window(
    company: Company,
    window_start: dt.date,
    window_end: dt.date,
    *,
    today: dt.date,
    rates: RateTable,
    excluded_account_ids: Collection[UUID] = frozenset(),
) -> Expectations:
    """Return what can reach [window_start, window_end]: rules without overrides, and flows of all others.

    Planned totals are flows with their open amount, until their month ends. One statement, and a second one
    where there are planned totals.

    Args:
        excluded_account_ids: accounts whose occurrences are left out.

    Raises:
        MissingRate: a currency has no exchange rate.
    """
    unchanged_rules: list[PlannedRule] = []
    flows: list[PlannedFlow] = []
    totals: list[tuple[PlannedRule, Overrides]] = []
    # Planned totals share a month's bookings, so all totals of the months are read.
    for planned, overrides in iter_planned_rules(
        company.id, get_first_day_of_month(window_start), get_last_day_of_month(window_end)
    ):
        if planned.is_total:
            totals.append((planned, overrides))
        elif overrides:
            rule_occurrences = expand_occurrences(
                planned.recurrence_rule(), overrides, window_start=window_start, window_end=window_end
            )
            flows += [
                flow
                for flow in iter_flows_of_rule(planned, rule_occurrences)
                if flow.account_id not in excluded_account_ids
            ]
        elif planned.account_id not in excluded_account_ids:
            unchanged_rules.append(planned)
    start = max(window_start, get_first_day_of_month(today))
    if start <= window_end:
        settled = find_settled_amounts_of_rules(company.id, totals, start=start, end=window_end, rates=rates)
        for planned, overrides in totals:
            rule_occurrences = expand_occurrences(
                planned.recurrence_rule(), overrides, window_start=start, window_end=window_end
            )
            open_amounts = iter_flows_of_rule(planned, rule_occurrences, settled)
            flows += [flow for flow in open_amounts if flow.amount and flow.account_id not in excluded_account_ids]
    return unchanged_rules, flows


def iter_flows_of_rule(
    planned: PlannedRule, rule_occurrences: Iterable[Occurrence], settled: SettledAmounts = NOTHING_SETTLED
) -> Iterator[PlannedFlow]:
    """Yield the open amounts of occurrences as flows; skipped and settled ones are left out."""
    for occurrence in rule_occurrences:
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


def sum_planned_results(company: Company, months: list[dt.date]) -> dict[ResultKey, list[tuple[Decimal, str]]]:
    """Sum the financial plan: (month, P&L line, category) → sums by currency, not rounded. One statement.

    Args:
        months: first days of consecutive months, in order.
    """
    if not months:
        return {}
    sums: dict[ResultKey, dict[str, Decimal]] = {}
    with connection.cursor() as cursor:
        cursor.execute(_ITEMS, {"company": company.id, "last": months[-1]})
        rows = cursor.fetchall()
    for pl_type, category_id, currency, month, frequency, duration, *amount in rows:
        if duration is not None and count_months_between(month, months[0]) >= duration:
            continue
        item = PlanItemSchedule(month, PlanAmount(*(each for each in amount if each is not None)), frequency, duration)
        for posting_month, value in compute_plan_postings(item, window_start=months[0], window_end=months[-1]).items():
            by_currency = sums.setdefault((posting_month, pl_type, category_id), {})
            by_currency[currency] = by_currency.get(currency, Decimal(0)) + value
    return {key: [(value, currency) for currency, value in each.items()] for key, each in sums.items()}


def sum_planned_results_in_base(
    company: Company, months: Sequence[dt.date], rates: RateTable
) -> dict[ResultKey, Decimal]:
    """Sum the financial plan in the base currency, at each month's latest rate; not rounded.

    Raises:
        MissingRate: a currency has no exchange rate.
    """
    amounts: dict[ResultKey, Decimal] = {}
    for key, sums in sum_planned_results(company, list(months)).items():
        for amount, currency in sums:
            day = get_last_day_of_month(key[0])
            converted_amount = convert(amount, source=currency, target=company.base_currency, day=day, rates=rates)
            amounts[key] = MONEY_CONTEXT.add(amounts.get(key, Decimal(0)), converted_amount)
    return amounts
