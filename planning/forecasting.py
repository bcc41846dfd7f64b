"""What is expected of a whole company: its occurrences as flows, its plan as results. No clock."""

import datetime as dt
from collections.abc import Collection, Iterator, Sequence
from decimal import Decimal
from typing import Any, NamedTuple
from uuid import UUID

from companies.models import Company
from ledger.calc.fx import RateTable, convert
from ledger.calc.money import WIDE
from ledger.calc.months import last_of_month, months_between
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
    original_date: dt.date


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


def planned_flows(
    company: Company, window_start: dt.date, window_end: dt.date, *, rules: Any = None
) -> Iterator[PlannedFlow]:
    """Every occurrence that falls into the window, both ends included, and is neither skipped nor settled.

    By the day it is moved to, with the amount and account of its override; of all rules or of those given. In no order.
    Two queries, however many rules there are.
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
    rules: Any = None,
    left_out: Collection[UUID] = frozenset(),
) -> tuple[list[PlannedRule], list[PlannedFlow]]:
    """What can reach the window: rules that nothing overrides, and the flows of those with overrides; but none on
    accounts that are left out."""
    rules = PlannedTransaction.objects.of(company.id) if rules is None else rules
    overrides = overrides_of(company)
    plain: list[PlannedRule] = []
    flows: list[PlannedFlow] = []
    for row in rules.touching(company.id, window_start, window_end).values_list(*COLUMNS):
        planned = PlannedRule(*row)
        patches = overrides.get(planned.id)
        if patches:
            found = expand(planned.rule(), patches, window_start=window_start, window_end=window_end)
            flows += [flow for flow in patched_flows(planned, found) if flow.account_id not in left_out]
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


def planned_in_base(company: Company, months: Sequence[dt.date], rates: RateTable) -> dict[Result, Decimal]:
    """What the plan comes to in the base currency, at each month's latest rate; not rounded. Raises MissingRate."""
    found: dict[Result, Decimal] = {}
    for key, sums in planned_results(company, list(months)).items():
        for amount, currency in sums:
            day = last_of_month(key[0])
            worth = convert(amount, source=currency, target=company.base_currency, day=day, rates=rates)
            found[key] = WIDE.add(found.get(key, Decimal(0)), worth)
    return found
