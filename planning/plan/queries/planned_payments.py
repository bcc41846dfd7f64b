"""Planned transactions beside the plan: what is planned as payments by month and category, as proposals for the plan.

Only categories with one P&L line are included: the payments of others do not say on which line they count. Neutral
categories are left out, since they are in no result.
"""

import datetime as dt
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, NamedTuple
from uuid import UUID

from companies.models import Company
from ledger.calc.months import get_first_day_of_month, get_last_day_of_month, list_months
from ledger.models import EXPENSE_LINES, Category, PlType
from ledger.money.calc.fx import RateTable, convert_currency
from ledger.money.calc.money import round_half_up
from planning.calc.planned_payments import compute_amount_without_tax
from planning.calc.planned_totals import BookedAmount, OccurrenceKey, PlannedTotal, compute_settled_amounts
from planning.forecast.queries import ResultKey, sum_planned_results_in_base
from planning.models import PlannedTransaction
from planning.planned_transactions.queries.occurrences import (
    check_occurrence_window,
    expand_planned_transaction,
    limit_occurrences,
    list_planned_with_expected_dates,
)

ZERO = Decimal(0)
LINE_PLACES = {line.value: place for place, line in enumerate(PlType)}


@dataclass(frozen=True, slots=True)
class PlannedPayment:
    """An occurrence of a planned transaction in the plan.

    `amount` is in the currency of the planned transaction; negative is money out. Of a planned total it is what open
    and paid invoices leave. `planned_value` is in the base currency with the sign of the plan, without tax.
    """

    planned: PlannedTransaction
    original_date: dt.date
    date: dt.date
    name: str
    key: ResultKey
    amount: Decimal
    planned_value: Decimal


@dataclass(frozen=True, slots=True)
class PlanProposal:
    """What is planned as payments in a month, beside the plan; in the base currency, with the sign of the plan."""

    key: ResultKey
    planned_payments: Decimal
    planned: Decimal

    @property
    def difference(self) -> Decimal:
        return self.planned_payments - self.planned


@dataclass(frozen=True, slots=True)
class UncoveredRow:
    """What a row of the plan has beyond its planned transactions, by month: in the base currency, ≥ 0."""

    pl_type: str
    category_id: UUID
    amounts: list[Decimal]


@dataclass(frozen=True, slots=True)
class UncoveredPlan:
    """What the plan has beyond planned transactions: its rows, and planned payments by month that may belong to them
    because their P&L line is not known (in the base currency without tax; negative is money out).
    """

    rows: list[UncoveredRow] = field(default_factory=list)
    payments_without_line: dict[dt.date, Decimal] = field(default_factory=dict)


class CategorizedOccurrence(NamedTuple):
    """An occurrence with its override applied, in a category with one P&L line."""

    planned: PlannedTransaction
    original_date: dt.date
    date: dt.date
    name: str
    category_id: UUID
    account_id: UUID | None
    amount: Decimal


def list_plan_proposals(*, company: Company, start: dt.date, end: dt.date, rates: RateTable) -> list[PlanProposal]:
    """Return what is planned as payments in the months from that of `start` to that of `end`, beside the plan.

    Months and categories without a planned payment are left out. By month, P&L line and category.

    Raises:
        ValidationFailed: the window is reversed, longer than ten years, or has more than 10,000 occurrences.
        MissingRate: a currency has no exchange rate.
    """
    check_occurrence_window(start, end)
    months = list_months(get_first_day_of_month(start), get_first_day_of_month(end))
    payments = list_planned_payments(company, start=months[0], end=months[-1], rates=rates)
    planned = sum_planned_results_in_base(company, months, rates)
    proposals = (
        PlanProposal(key, amount, round_half_up(planned.get(key, ZERO), company.base_currency))
        for key, amount in sum_planned_payments(payments).items()
    )
    return sorted(proposals, key=lambda proposal: (proposal.key[0], LINE_PLACES[proposal.key[1]], proposal.key[2]))


def load_uncovered_plan(company: Company, months: Sequence[dt.date], *, rates: RateTable) -> UncoveredPlan:
    """Return what the plan has in consecutive months beyond planned transactions, where there is something.

    It is in no forecast. Rows are in the order of the profit and loss. Four statements, one more with open invoices.

    Raises:
        ValidationFailed: there are more than 10,000 occurrences.
        MissingRate: a currency has no exchange rate.
    """
    planned_results = sum_planned_results_in_base(company, months, rates) if months else {}
    if not planned_results:
        return UncoveredPlan()
    category_lines = load_category_lines(company)
    only_lines = select_only_lines(category_lines)
    window = {"window_start": months[0], "window_end": get_last_day_of_month(months[-1])}
    planned_rows = list_planned_with_expected_dates(company, **window)
    payments = sum_planned_payments(build_planned_payments(company, planned_rows, only_lines, **window, rates=rates))
    amounts: defaultdict[tuple[str, UUID], dict[dt.date, Decimal]] = defaultdict(dict)
    for key, planned in planned_results.items():
        month, line, category_id = key
        uncovered = round_half_up(planned, company.base_currency) - payments.get(key, ZERO)
        if uncovered > 0 and only_lines.get(category_id) == line:
            amounts[line, category_id][month] = uncovered
    if not amounts:
        return UncoveredPlan()
    rows = [
        UncoveredRow(line, category_id, [by_month.get(month, ZERO) for month in months])
        for (line, category_id), by_month in amounts.items()
    ]
    return UncoveredPlan(
        sorted(rows, key=lambda row: (LINE_PLACES[row.pl_type], row.category_id)),
        sum_payments_without_line(company, planned_rows, category_lines, **window, rates=rates),
    )


def sum_payments_without_line(
    company: Company,
    planned_rows: Iterable[PlannedTransaction],
    category_lines: Mapping[UUID, Sequence[str]],
    *,
    window_start: dt.date,
    window_end: dt.date,
    rates: RateTable,
) -> dict[dt.date, Decimal]:
    """Sum the planned payments of each month whose P&L line is not known: without category, or with several lines.

    In the base currency without tax; negative is money out. Transfers and neutral categories are left out.

    Raises:
        ValidationFailed: there are more than 10,000 occurrences.
        MissingRate: a currency has no exchange rate.
    """
    window = {"window_start": window_start, "window_end": window_end}
    sums: defaultdict[dt.date, Decimal] = defaultdict(lambda: ZERO)
    rows = [row for row in planned_rows if row.transfer_account_id is None]
    pairs = ((row, each) for row in rows for each in expand_planned_transaction(row, **window) if not each.skipped)
    for planned, occurrence in limit_occurrences(pairs):
        patch: Any = occurrence.patch
        category_id = patch.get("category_id", planned.category_id)
        if category_id is None or len(category_lines.get(category_id, ())) > 1:
            amount = patch.get("amount_value", planned.amount_value)
            value = convert_payment(company, planned, occurrence.date, amount, rates=rates)
            sums[get_first_day_of_month(occurrence.date)] += value
    return dict(sums)


def sum_planned_payments(payments: Iterable[PlannedPayment]) -> dict[ResultKey, Decimal]:
    """Sum planned payments by month, P&L line and category, in the base currency with the sign of the plan."""
    sums: defaultdict[ResultKey, Decimal] = defaultdict(lambda: ZERO)
    for payment in payments:
        sums[payment.key] += payment.planned_value
    return dict(sums)


def list_planned_payments(company: Company, *, start: dt.date, end: dt.date, rates: RateTable) -> list[PlannedPayment]:
    """Return the occurrences in the months from `start` to `end` that count in the plan, by date and name.

    Paid and overdue ones are included, skipped ones are not. Three statements, one more with open invoices.

    Raises:
        ValidationFailed: there are more than 10,000.
        MissingRate: a currency has no exchange rate.
    """
    window = {"window_start": get_first_day_of_month(start), "window_end": get_last_day_of_month(end)}
    planned_rows = list_planned_with_expected_dates(company, **window)
    lines = select_only_lines(load_category_lines(company))
    return build_planned_payments(company, planned_rows, lines, **window, rates=rates)


def build_planned_payments(
    company: Company,
    planned_rows: Iterable[PlannedTransaction],
    lines: Mapping[UUID, str],
    *,
    window_start: dt.date,
    window_end: dt.date,
    rates: RateTable,
) -> list[PlannedPayment]:
    """Return the occurrences of planned transactions that count in the plan, by date and name.

    Args:
        lines: the P&L line of the categories that have one.

    Raises:
        ValidationFailed: there are more than 10,000.
        MissingRate: a currency has no exchange rate.
    """
    window = {"window_start": window_start, "window_end": window_end}
    occurrences = [
        *limit_occurrences(each for row in planned_rows for each in iter_categorized_occurrences(row, lines, **window))
    ]
    covered = compute_covered_totals(occurrences, rates=rates)
    payments = (
        build_planned_payment(
            company,
            occurrence,
            lines[occurrence.category_id],
            covered.get((occurrence.planned.id, occurrence.original_date), ZERO),
            rates=rates,
        )
        for occurrence in occurrences
    )
    return sorted(payments, key=lambda payment: (payment.date, payment.name, str(payment.planned.id)))


def load_category_lines(company: Company) -> dict[UUID, list[str]]:
    """Return category → its P&L lines."""
    return dict(Category.objects.for_company(company.id).values_list("id", "pl_types"))


def select_only_lines(category_lines: Mapping[UUID, Sequence[str]]) -> dict[UUID, str]:
    """Return category → P&L line of the categories that post to one line, other than the neutral one."""
    return {
        category_id: lines[0]
        for category_id, lines in category_lines.items()
        if len(lines) == 1 and lines[0] != PlType.NEUTRAL
    }


def iter_categorized_occurrences(
    planned: PlannedTransaction, lines: Mapping[UUID, str], *, window_start: dt.date, window_end: dt.date
) -> Iterator[CategorizedOccurrence]:
    """Yield the occurrences of a planned transaction whose category has one P&L line; skipped ones are left out."""
    if planned.category_id not in lines and not planned.overrides:
        return
    for occurrence in expand_planned_transaction(planned, window_start=window_start, window_end=window_end):
        patch: Any = occurrence.patch
        category_id = patch.get("category_id", planned.category_id)
        if not occurrence.skipped and category_id in lines:
            yield CategorizedOccurrence(
                planned,
                occurrence.original_date,
                occurrence.date,
                patch.get("name", planned.name),
                category_id,
                patch.get("account_id", planned.account_id),
                patch.get("amount_value", planned.amount_value),
            )


def compute_covered_totals(
    occurrences: Iterable[CategorizedOccurrence], *, rates: RateTable
) -> dict[OccurrenceKey, Decimal]:
    """Compute how much of each planned total the invoices of its category and month are, so that they count once.

    Raises:
        MissingRate: a currency has no exchange rate.
    """
    totals: defaultdict[tuple[dt.date, UUID], list[PlannedTotal]] = defaultdict(list)
    invoices: defaultdict[tuple[dt.date, UUID], list[BookedAmount]] = defaultdict(list)
    for planned, original_date, day, _, category_id, account_id, amount in occurrences:
        key = get_first_day_of_month(day), category_id
        currency, counterparty_id = planned.amount_currency, planned.counterparty_id
        if planned.is_total:
            total = PlannedTotal(planned.id, original_date, day, amount, currency, account_id, counterparty_id)
            totals[key].append(total)
        elif planned.is_invoice:
            invoices[key].append(BookedAmount(day, amount, currency, account_id, counterparty_id))
    covered: dict[OccurrenceKey, Decimal] = {}
    for key in totals.keys() & invoices.keys():
        covered |= compute_settled_amounts(totals[key], invoices[key], rates=rates)
    return covered


def build_planned_payment(
    company: Company, occurrence: CategorizedOccurrence, line: str, covered: Decimal, *, rates: RateTable
) -> PlannedPayment:
    """Build the planned payment of an occurrence; `covered` is the part that invoices are.

    Raises:
        MissingRate: the currency has no exchange rate.
    """
    planned, amount = occurrence.planned, occurrence.amount - covered
    value = convert_payment(company, planned, occurrence.date, amount, rates=rates)
    return PlannedPayment(
        planned,
        occurrence.original_date,
        occurrence.date,
        occurrence.name,
        (get_first_day_of_month(occurrence.date), line, occurrence.category_id),
        amount,
        -value if line in EXPENSE_LINES and value else value,
    )


def convert_payment(
    company: Company, planned: PlannedTransaction, day: dt.date, amount: Decimal, *, rates: RateTable
) -> Decimal:
    """Return the amount of an occurrence without tax in the base currency, rounded.

    Raises:
        MissingRate: the currency has no exchange rate.
    """
    tax, base = planned.pass_through_tax_amount or ZERO, company.base_currency
    without_tax = compute_amount_without_tax(amount, planned_amount=planned.amount_value, tax=tax)
    converted = convert_currency(without_tax, source=planned.amount_currency, target=base, day=day, rates=rates)
    return round_half_up(converted, base)
