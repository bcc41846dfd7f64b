"""Planned totals: occurrences that stand for a month's total in a category, and how much of it is booked."""

import datetime as dt
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from typing import Any
from uuid import UUID

from django.db.models import Case, Exists, F, OuterRef, Sum, When

from ledger.calc.fx import RateTable
from ledger.calc.months import first_of_month, last_of_month
from ledger.models import Categorization
from ledger.money.rates import rate_table
from planning.calc.recurrence import Overrides, expand
from planning.calc.totals import BookedAmount, OccurrenceKey, PlannedTotal, compute_settled_amounts
from planning.models import PlannedOverride, PlannedTransaction, SettledBy
from planning.rules import PlannedRule, read_rules

CategoryMonth = tuple[dt.date, UUID]
SettledAmounts = Mapping[OccurrenceKey, Decimal]
NOTHING_SETTLED: SettledAmounts = {}


def find_settled_amounts_of(
    rows: Iterable[PlannedTransaction], *, start: dt.date, end: dt.date, rates: RateTable | None = None
) -> SettledAmounts:
    """Return what is booked of the occurrences of planned totals in [start, end], among them those of `rows`.

    No statement where none of the rows is a planned total.

    Raises:
        MissingRate: a currency has no exchange rate.
    """
    companies = {row.company_id for row in rows if row.is_total}
    settled: dict[OccurrenceKey, Decimal] = {}
    for company_id in companies:
        rules = read_rules(company_id, first_of_month(start), last_of_month(end), settled_by=SettledBy.CATEGORY)
        settled |= find_settled_amounts(
            company_id, list(rules), start=start, end=end, rates=rate_table() if rates is None else rates
        )
    return settled


def find_settled_amounts(
    company_id: UUID,
    rules: Sequence[tuple[PlannedRule, Overrides]],
    *,
    start: dt.date,
    end: dt.date,
    rates: RateTable,
) -> SettledAmounts:
    """Return what is booked of each occurrence of the company's planned totals in the months of [start, end].

    `rules` are all planned totals of the company that reach these months. Occurrences of which nothing is booked are
    absent. Amounts have the sign and the currency of the plan. One statement.

    Raises:
        MissingRate: a currency has no exchange rate.
    """
    if not rules:
        return NOTHING_SETTLED
    first, last = first_of_month(start), last_of_month(end)
    counterparty_ids = {planned.counterparty_id for planned, _ in rules if planned.counterparty_id}
    booked = sum_booked(company_id, list_categories(rules), counterparty_ids, start=first, end=last)
    totals = group_totals(rules, months={month for month, _ in booked})
    settled: dict[OccurrenceKey, Decimal] = {}
    for key, amounts in booked.items():
        settled |= compute_settled_amounts(totals.get(key, []), amounts, rates=rates)
    return settled


def list_categories(rules: Iterable[tuple[PlannedRule, Overrides]]) -> set[UUID]:
    """The categories in which planned totals, or single occurrences of theirs, are booked."""
    found: set[Any] = set()
    for planned, patches in rules:
        found.add(planned.category_id)
        found |= {patch.get("category_id") for patch in patches.values()}
    return found - {None}


def sum_booked(
    company_id: UUID, category_ids: Iterable[UUID], counterparty_ids: Iterable[UUID], *, start: dt.date, end: dt.date
) -> dict[CategoryMonth, list[BookedAmount]]:
    """Return what is booked in the categories, by month: what counts in the P&L and settles no occurrence.

    Only the counterparties in ``counterparty_ids`` are told apart; amounts of all others are added up without one.
    """
    settling = PlannedOverride.objects.filter(company=OuterRef("company"), transaction=OuterRef("transaction"))
    rows = (
        Categorization.objects.of(company_id)
        .counted()
        .filter(category__in=list(category_ids), transaction__date__range=(start, end))
        .exclude(Exists(settling))
        .values_list(
            "category_id",
            "transaction__date",
            "transaction__amount_currency",
            "transaction__account_id",
            Case(When(counterparty__in=list(counterparty_ids), then=F("counterparty_id"))),
        )
        .order_by()
        .annotate(amount=Sum("value"))
    )
    found: defaultdict[CategoryMonth, list[BookedAmount]] = defaultdict(list)
    for category_id, day, currency, account_id, counterparty_id, amount in rows:
        found[first_of_month(day), category_id].append(BookedAmount(day, amount, currency, account_id, counterparty_id))
    return found


def group_totals(
    rules: Iterable[tuple[PlannedRule, Overrides]], *, months: Iterable[dt.date]
) -> Mapping[CategoryMonth, list[PlannedTotal]]:
    """The occurrences in some months that are neither skipped nor settled by a transaction, by month and category."""
    found: defaultdict[CategoryMonth, list[PlannedTotal]] = defaultdict(list)
    for month in months:
        for planned, patches in rules:
            for each in expand(planned.rule(), patches, window_start=month, window_end=last_of_month(month)):
                if each.skipped or each.transaction_id is not None:
                    continue
                patch = each.patch
                category_id = patch.get("category_id", planned.category_id)
                total = PlannedTotal(
                    planned.id,
                    each.original_date,
                    each.date,
                    patch.get("amount_value", planned.amount),  # type: ignore[arg-type]
                    planned.currency,
                    patch.get("account_id", planned.account_id),  # type: ignore[arg-type]
                    planned.counterparty_id,
                )
                found[month, category_id].append(total)  # type: ignore[index]
    return found
