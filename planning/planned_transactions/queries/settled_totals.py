"""Planned totals: occurrences that stand for a month's total in a category, and how much of them is booked."""

import datetime as dt
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from typing import Any
from uuid import UUID

from django.db.models import Case, Exists, F, OuterRef, Sum, When

from ledger.calc.months import get_first_day_of_month, get_last_day_of_month
from ledger.models import AccountType, Categorization
from ledger.money.calc.fx import RateTable
from ledger.money.rates import get_rate_table
from planning.calc.planned_totals import BookedAmount, OccurrenceKey, PlannedTotal, compute_settled_amounts
from planning.calc.recurrence import Overrides, expand_occurrences
from planning.models import PlannedOverride, PlannedTransaction, SettledBy
from planning.planned_transactions.queries.planned_rules import PlannedRule, iter_planned_rules

CategoryMonth = tuple[dt.date, UUID]
SettledAmounts = Mapping[OccurrenceKey, Decimal]
NOTHING_SETTLED: SettledAmounts = {}
SETTLED_BY_TRANSFER = {AccountType.CREDIT_CARD, AccountType.TRANSIT}


def load_settled_amounts(
    rows: Iterable[PlannedTransaction], *, start: dt.date, end: dt.date, rates: RateTable | None = None
) -> SettledAmounts:
    """Return what is booked of planned totals in [start, end], among them those of `rows`.

    No statement if none of the rows is a planned total.

    Raises:
        MissingRate: a currency has no exchange rate.
    """
    companies = {row.company_id for row in rows if row.is_total}
    settled: dict[OccurrenceKey, Decimal] = {}
    for company_id in companies:
        rules = iter_planned_rules(
            company_id, get_first_day_of_month(start), get_last_day_of_month(end), settled_by=SettledBy.CATEGORY
        )
        settled |= find_settled_amounts_of_rules(
            company_id, list(rules), start=start, end=end, rates=get_rate_table() if rates is None else rates
        )
    return settled


def find_settled_amounts_of_rules(
    company_id: UUID,
    rules: Sequence[tuple[PlannedRule, Overrides]],
    *,
    start: dt.date,
    end: dt.date,
    rates: RateTable,
) -> SettledAmounts:
    """Return what is booked of each occurrence of a company's planned totals in the months of [start, end].

    `rules` are all planned totals that reach these months. Occurrences without bookings are absent. Amounts
    have the sign and currency of the plan. One statement.

    Raises:
        MissingRate: a currency has no exchange rate.
    """
    settled: dict[OccurrenceKey, Decimal] = {}
    for totals, booked in load_totals_with_bookings(company_id, rules, start=start, end=end):
        settled |= compute_settled_amounts(totals, booked, rates=rates)
    return settled


def load_totals_with_bookings(
    company_id: UUID, rules: Sequence[tuple[PlannedRule, Overrides]], *, start: dt.date, end: dt.date
) -> list[tuple[list[PlannedTotal], list[BookedAmount]]]:
    """Return the open planned totals of each category and month in [start, end] that has bookings, oldest first.

    `rules` are all planned totals that reach these months. One statement.
    """
    if not rules:
        return []
    first, last = get_first_day_of_month(start), get_last_day_of_month(end)
    counterparty_ids = {planned.counterparty_id for planned, _ in rules if planned.counterparty_id}
    booked = sum_booked_by_category_month(
        company_id, list_planned_category_ids(rules), counterparty_ids, start=first, end=last
    )
    totals = group_planned_totals(rules, months={month for month, _ in booked})
    return [(totals[key], booked[key]) for key in sorted(booked) if key in totals]


def list_planned_category_ids(rules: Iterable[tuple[PlannedRule, Overrides]]) -> set[UUID]:
    """Return the categories of planned totals and of their overrides."""
    category_ids: set[Any] = set()
    for planned, overrides in rules:
        category_ids.add(planned.category_id)
        category_ids |= {patch.get("category_id") for patch in overrides.values()}
    return category_ids - {None}


def sum_booked_by_category_month(
    company_id: UUID, category_ids: Iterable[UUID], counterparty_ids: Iterable[UUID], *, start: dt.date, end: dt.date
) -> dict[CategoryMonth, list[BookedAmount]]:
    """Return what is booked in the categories, by month: what counts in the P&L and settles no occurrence.

    Only the counterparties in ``counterparty_ids`` are told apart; amounts of all others are added up without one.
    """
    settling_overrides = PlannedOverride.objects.filter(
        company=OuterRef("company"), transaction=OuterRef("transaction")
    )
    rows = (
        Categorization.objects.for_company(company_id)
        .counted_in_results()
        .filter(category__in=list(category_ids), transaction__date__range=(start, end))
        .exclude(Exists(settling_overrides))
        .values_list(
            "category_id",
            "transaction__date",
            "transaction__amount_currency",
            "transaction__account_id",
            Case(When(counterparty__in=list(counterparty_ids), then=F("counterparty_id"))),
            "transaction__account__type",
            "transaction__account__include_in_cash_balance",
        )
        .order_by()
        .annotate(amount=Sum("value"))
    )
    booked_amounts: defaultdict[CategoryMonth, list[BookedAmount]] = defaultdict(list)
    for category_id, day, currency, account_id, counterparty_id, account_type, is_cash, amount in rows:
        booked_amounts[get_first_day_of_month(day), category_id].append(
            BookedAmount(
                day,
                amount,
                currency,
                account_id,
                counterparty_id,
                is_settled_by_transfer=account_type in SETTLED_BY_TRANSFER and not is_cash,
            )
        )
    return booked_amounts


def group_planned_totals(
    rules: Iterable[tuple[PlannedRule, Overrides]], *, months: Iterable[dt.date]
) -> Mapping[CategoryMonth, list[PlannedTotal]]:
    """Return the open occurrences of planned totals by month and category."""
    totals: defaultdict[CategoryMonth, list[PlannedTotal]] = defaultdict(list)
    for month in months:
        for planned, overrides in rules:
            for occurrence in expand_occurrences(
                planned.recurrence_rule(), overrides, window_start=month, window_end=get_last_day_of_month(month)
            ):
                if occurrence.skipped or occurrence.transaction_id is not None:
                    continue
                patch = occurrence.patch
                category_id = patch.get("category_id", planned.category_id)
                total = PlannedTotal(
                    planned.id,
                    occurrence.original_date,
                    occurrence.date,
                    patch.get("amount_value", planned.amount),  # type: ignore[arg-type]
                    planned.currency,
                    patch.get("account_id", planned.account_id),  # type: ignore[arg-type]
                    planned.counterparty_id,
                )
                totals[month, category_id].append(total)  # type: ignore[index]
    return totals
