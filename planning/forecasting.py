"""What is expected of a whole company: its occurrences as flows, its plan as results. No clock; read by analytics."""

import datetime as dt
from collections import defaultdict
from collections.abc import Iterator
from decimal import Decimal
from typing import NamedTuple
from uuid import UUID

from companies.models import Company
from ledger.calc.months import months_between
from ledger.models import Account, AccountType
from planning.calc.plan import postings
from planning.calc.recurrence import Patch, Rule, expand, occurrences
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
    return [
        PlannedFlow(day, amount, planned.currency, account_id, planned.id)
        for planned, days in expected_days(company, window_start, window_end)
        for day, amount, account_id in days
    ]


def planned_sums(
    company: Company, window_start: dt.date, window_end: dt.date
) -> dict[tuple[dt.date, str], tuple[Decimal, Decimal]]:
    """The same flows summed: (day, currency) → (in, out), both ≥ 0. For series, which need no single flow."""
    inflows: dict[tuple[dt.date, str], Decimal] = defaultdict(Decimal)
    outflows: dict[tuple[dt.date, str], Decimal] = defaultdict(Decimal)
    for planned, days in expected_days(company, window_start, window_end):
        currency = planned.currency
        for day, amount, _ in days:
            if amount < 0:
                outflows[day, currency] -= amount
            else:
                inflows[day, currency] += amount
    zero = Decimal(0)
    return {key: (inflows.get(key, zero), outflows.get(key, zero)) for key in inflows.keys() | outflows.keys()}


def expected_days(
    company: Company, window_start: dt.date, window_end: dt.date
) -> Iterator[tuple[PlannedRule, list[tuple[dt.date, Decimal, UUID | None]]]]:
    """Each rule that can reach the window, with (day, amount, account) of what is expected in it."""
    transit = set(Account.objects.of(company.id).filter(type=AccountType.TRANSIT).values_list("id", flat=True))
    rules = PlannedTransaction.objects.of(company.id).touching(window_start, window_end)
    overrides = overrides_of(company)
    for row in rules.values_list(*COLUMNS):
        planned = PlannedRule(*row)
        patches = overrides.get(planned.id)
        if patches:
            yield planned, patched_days(planned, patches, transit, window_start, window_end)
        elif planned.account_id not in transit:
            days = occurrences(planned.rule(), window_start=window_start, window_end=window_end)
            yield planned, [(day, planned.amount, planned.account_id) for day in days]


def patched_days(
    planned: PlannedRule,
    patches: dict[dt.date, Patch],
    transit: set[UUID],
    window_start: dt.date,
    window_end: dt.date,
) -> list[tuple[dt.date, Decimal, UUID | None]]:
    """The same for a rule with overrides: what is skipped, settled or moved to a transit account is left out."""
    found = []
    for occurrence in expand(planned.rule(), patches, window_start=window_start, window_end=window_end):
        account_id = occurrence.patch.get("account_id", planned.account_id)
        if occurrence.skipped or occurrence.transaction_id is not None or account_id in transit:
            continue
        found.append((occurrence.date, occurrence.patch.get("amount_value", planned.amount), account_id))
    return found  # type: ignore[return-value]


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
