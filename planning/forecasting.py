"""What is expected of a whole company: its occurrences as flows, its plan as results. No clock; read by analytics."""

import datetime as dt
from collections import defaultdict
from collections.abc import Iterator
from decimal import Decimal
from typing import Any, NamedTuple
from uuid import UUID

from companies.models import Company
from ledger.calc.months import months_between
from ledger.models import Account, AccountType
from planning.calc.plan import postings
from planning.calc.recurrence import Occurrence, Patch, Rule, expand, occurrences
from planning.models import PlanItem, PlannedOverride, PlannedTransaction

Result = tuple[dt.date, str, UUID]  # first day of month, P&L line, category


class PlannedFlow(NamedTuple):
    """One expected movement: negative is money out; without an account where none is named."""

    date: dt.date
    amount: Decimal
    currency: str
    account_id: UUID | None
    planned_id: UUID


class PlannedRule(NamedTuple):
    """What the forecast needs of a planned transaction, without a model's weight; columns in this order."""

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


COLUMNS = (
    "id",
    "account_id",
    "amount_value",
    "amount_currency",
    "start_date",
    "frequency",
    "interval",
    "last_day_of_month",
    "end_date",
    "end_count",
)


def planned_flows(company: Company, window_start: dt.date, window_end: dt.date) -> list[PlannedFlow]:
    """Every occurrence that falls into the window, both ends included, and is neither skipped nor settled.

    By the day it is moved to, with the amount and account of its override; those on transit accounts are left out.
    In no order. Three queries, however many rules there are.
    """
    plain, patched = expectations(company, window_start, window_end)
    flows = [
        PlannedFlow(day, planned.amount, planned.currency, planned.account_id, planned.id)
        for planned in plain
        for day in occurrences(planned.rule(), window_start=window_start, window_end=window_end)
    ]
    return flows + patched


def planned_sums(
    company: Company, window_start: dt.date, window_end: dt.date
) -> dict[tuple[dt.date, str], tuple[Decimal, Decimal]]:
    """The same flows summed: (day, currency) → (in, out), both ≥ 0. For series, which need no single flow.

    Rules of one schedule and currency are summed first, so that each schedule is expanded once.
    """
    plain, patched = expectations(company, window_start, window_end)
    inflows: dict[tuple[dt.date, str], Decimal] = defaultdict(Decimal)
    outflows: dict[tuple[dt.date, str], Decimal] = defaultdict(Decimal)
    schedules: dict[tuple[Rule, str, bool], Decimal] = defaultdict(Decimal)
    for planned in plain:
        schedules[planned.rule(), planned.currency, planned.amount < 0] += abs(planned.amount)
    for (rule, currency, out), amount in schedules.items():
        sums = outflows if out else inflows
        for day in occurrences(rule, window_start=window_start, window_end=window_end):
            sums[day, currency] += amount
    for flow in patched:
        sums = outflows if flow.amount < 0 else inflows
        sums[flow.date, flow.currency] += abs(flow.amount)
    zero = Decimal(0)
    return {key: (inflows.get(key, zero), outflows.get(key, zero)) for key in inflows.keys() | outflows.keys()}


def expectations(
    company: Company, window_start: dt.date, window_end: dt.date
) -> tuple[list[PlannedRule], list[PlannedFlow]]:
    """What can reach the window: rules that nothing overrides, and the flows of those with overrides."""
    transit = set(Account.objects.of(company.id).filter(type=AccountType.TRANSIT).values_list("id", flat=True))
    rules = PlannedTransaction.objects.of(company.id).touching(company.id, window_start, window_end)
    overrides = overrides_of(company)
    plain: list[PlannedRule] = []
    flows: list[PlannedFlow] = []
    for row in rules.values_list(*COLUMNS):
        planned = PlannedRule(*row)
        patches = overrides.get(planned.id)
        if patches:
            found = expand(planned.rule(), patches, window_start=window_start, window_end=window_end)
            flows += patched_flows(planned, found, transit)
        elif planned.account_id not in transit:
            plain.append(planned)
    return plain, flows


def patched_flows(planned: PlannedRule, found: list[Occurrence], transit: set[UUID]) -> Iterator[PlannedFlow]:
    """The occurrences as flows; what is skipped, settled or on a transit account is left out."""
    for occurrence in found:
        patch: Any = occurrence.patch
        account_id = patch.get("account_id", planned.account_id)
        if occurrence.skipped or "transaction_id" in patch or account_id in transit:
            continue
        amount = patch.get("amount_value", planned.amount)
        yield PlannedFlow(occurrence.date, amount, planned.currency, account_id, planned.id)


def overrides_of(company: Company) -> dict[UUID, dict[dt.date, Patch]]:
    """Planned transaction → original date → patch, for the whole company."""
    found: dict[UUID, dict[dt.date, Patch]] = {}
    for row in PlannedOverride.objects.of(company.id):
        patch = row.patch()
        if patch:
            found.setdefault(row.planned_id, {})[row.original_date] = patch
    return found


def planned_results(company: Company, months: list[dt.date]) -> dict[Result, list[tuple[Decimal, str]]]:
    """What the plan says: (month, P&L line, category) → sums by currency, not rounded. One query.

    ``months`` are first days of consecutive months, in order.
    """
    if not months:
        return {}
    sums: dict[Result, dict[str, Decimal]] = {}
    for item in PlanItem.objects.of(company.id).started_by(months[-1]):
        if item.duration is not None and months_between(item.month, months[0]) >= item.duration:
            continue
        for month, amount in postings(item.line(), window_start=months[0], window_end=months[-1]).items():
            by_currency = sums.setdefault((month, item.pl_type, item.category_id), {})
            by_currency[item.amount_currency] = by_currency.get(item.amount_currency, Decimal(0)) + amount
    return {key: [(amount, currency) for currency, amount in found.items()] for key, found in sums.items()}
