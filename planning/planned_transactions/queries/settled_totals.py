"""Planned totals: occurrences that stand for a month's total in a category, and how much of them is booked."""

import datetime as dt
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Any
from uuid import UUID

from django.db import connection

from ledger.calc.months import get_first_day_of_month, get_last_day_of_month
from ledger.money.calc.fx import RateTable
from ledger.money.rates import get_rate_table
from planning.calc.planned_totals import BookedAmount, OccurrenceKey, PlannedTotal, compute_settled_amounts
from planning.calc.recurrence import expand_occurrences
from planning.calc.settlements import NOTHING, SettledAmount
from planning.models import PlannedTransaction, SettledBy
from planning.planned_transactions.queries.open_invoices import OpenInvoice, list_open_invoices
from planning.planned_transactions.queries.planned_rules import RuleWithOverrides, read_planned_rules
from planning.planned_transactions.queries.settlements import find_settled_amounts

CategoryMonth = tuple[dt.date, UUID]
SettledAmounts = Mapping[OccurrenceKey, SettledAmount]
ZERO = Decimal(0)
NOTHING_SETTLED: SettledAmounts = {}
# What counts in results and settles nothing but invoices. By transaction: a few months have fewer of them than a
# category has in all years. The overview waits 3 ms less for it than for the same query of the ORM.
_BOOKED = """
    SELECT c.category_id, t.date, sum(c.value), t.amount_currency, t.account_id,
           CASE WHEN c.counterparty_id = ANY (%(counterparties)s::uuid[]) THEN c.counterparty_id END AS counterparty,
           a.type IN ('creditCard', 'transit') AND NOT a.include_in_cash_balance AS settled_by_transfer
      FROM ledger_categorization AS c
      JOIN ledger_transaction AS t ON t.company_id = c.company_id AND t.id = c.transaction_id
      JOIN ledger_account AS a ON a.company_id = t.company_id AND a.id = t.account_id
     WHERE c.company_id = %(company)s AND c.category_id = ANY (%(categories)s::uuid[]) AND c.counter_id IS NULL
       AND c.transaction_id = ANY (ARRAY(
               SELECT id FROM ledger_transaction
                WHERE company_id = %(company)s AND date BETWEEN %(start)s AND %(end)s
                  AND NOT pending AND source <> 'initialBalance'
           ))
       AND NOT EXISTS (
               SELECT FROM planning_settlement AS s
                 JOIN planning_plannedtransaction AS p ON p.company_id = s.company_id AND p.id = s.planned_id
                WHERE s.company_id = c.company_id AND s.transaction_id = c.transaction_id
                  AND NOT (p.invoice_date IS NOT NULL AND p.frequency IS NULL AND p.settled_by = 'transaction')
           )
     GROUP BY c.category_id, t.date, t.amount_currency, t.account_id, counterparty, settled_by_transfer
"""


def load_settled_amounts(
    rows: Iterable[PlannedTransaction],
    *,
    start: dt.date,
    end: dt.date,
    today: dt.date,
    rates: RateTable | None = None,
    settled_amounts: SettledAmounts | None = None,
) -> SettledAmounts:
    """Return what is settled of planned transactions, and what is booked of planned totals in [start, end].

    One statement, and four more if any of the rows is a planned total.

    Args:
        settled_amounts: what is settled of the rows, where the caller knows it.

    Raises:
        MissingRate: a currency has no exchange rate.
    """
    rows = list(rows)
    settled = find_settled_amounts(rows) if settled_amounts is None else {**settled_amounts}
    for company_id in {row.company_id for row in rows if row.is_total}:
        rules = read_planned_rules(
            company_id, get_first_day_of_month(start), get_last_day_of_month(end), settled_by=SettledBy.CATEGORY
        )
        booked_amounts = find_booked_amounts_of_rules(
            company_id, rules, start=start, end=end, today=today, rates=get_rate_table() if rates is None else rates
        )
        for key, amount in booked_amounts.items():
            other = settled.get(key, NOTHING)
            settled[key] = replace(other, paid=other.paid + amount)
    return settled


def find_booked_amounts_of_rules(
    company_id: UUID,
    rules: Sequence[RuleWithOverrides],
    *,
    start: dt.date,
    end: dt.date,
    today: dt.date,
    rates: RateTable,
) -> dict[OccurrenceKey, Decimal]:
    """Return what is booked of each occurrence of a company's planned totals in the months of [start, end].

    `rules` are all planned totals that reach these months. Occurrences without bookings are absent. Amounts
    have the sign and currency of the plan. Two statements, and two more with open invoices.

    Raises:
        MissingRate: a currency has no exchange rate.
    """
    if not rules:
        return {}
    settled: dict[OccurrenceKey, Decimal] = {}
    invoices = list_open_invoices(company_id, end=get_last_day_of_month(end))
    for totals, booked in load_totals_with_bookings(company_id, rules, invoices, start=start, end=end, today=today):
        settled |= compute_settled_amounts(totals, booked, rates=rates)
    return settled


def load_totals_with_bookings(
    company_id: UUID,
    rules: Sequence[RuleWithOverrides],
    invoices: Iterable[OpenInvoice],
    *,
    start: dt.date,
    end: dt.date,
    today: dt.date,
) -> list[tuple[list[PlannedTotal], list[BookedAmount]]]:
    """Return the open planned totals of each category and month in [start, end] that has bookings, oldest first.

    An open invoice is part of the total of its category and month, and counts as booked there, so that it is expected
    once. `rules` are all planned totals and `invoices` all open invoices that reach these months. One statement.
    """
    if not rules:
        return []
    first, last = get_first_day_of_month(start), get_last_day_of_month(end)
    counterparty_ids = {each.planned.counterparty_id for each in rules if each.planned.counterparty_id}
    booked = sum_booked_by_category_month(
        company_id, list_planned_category_ids(rules), counterparty_ids, start=first, end=last
    )
    for month, category_id, amount in iter_invoice_amounts(invoices, today=today):
        if first <= month <= last:
            booked.setdefault((month, category_id), []).append(amount)
    totals = group_planned_totals(rules, months={month for month, _ in booked})
    return [(totals[key], booked[key]) for key in sorted(booked) if key in totals]


def iter_invoice_amounts(
    invoices: Iterable[OpenInvoice], *, today: dt.date
) -> Iterator[tuple[dt.date, UUID, BookedAmount]]:
    """Yield (month, category, amount) of open invoices with a category; overdue ones are expected today."""
    for invoice in invoices:
        if invoice.category_id is not None:
            day = max(invoice.expected.date, today)
            amount = BookedAmount(day, invoice.amount, invoice.currency, invoice.account_id, invoice.counterparty_id)
            yield get_first_day_of_month(day), invoice.category_id, amount


def list_planned_category_ids(rules: Iterable[RuleWithOverrides]) -> set[UUID]:
    """Return the categories of planned totals and of their overrides."""
    category_ids: set[Any] = set()
    for rule in rules:
        category_ids.add(rule.planned.category_id)
        category_ids |= {patch.get("category_id") for patch in rule.overrides.values()}
    return category_ids - {None}


def sum_booked_by_category_month(
    company_id: UUID, category_ids: Iterable[UUID], counterparty_ids: Iterable[UUID], *, start: dt.date, end: dt.date
) -> dict[CategoryMonth, list[BookedAmount]]:
    """Return what is booked in the categories, by month: what counts in the P&L and settles nothing but invoices.

    An invoice is part of the total, so its payment counts here. Only the counterparties in ``counterparty_ids`` are
    told apart; amounts of all others are added up without one.
    """
    parameters: dict[str, Any] = {
        "company": company_id,
        "categories": list(category_ids),
        "counterparties": list(counterparty_ids),
        "start": start,
        "end": end,
    }
    with connection.cursor() as cursor:
        cursor.execute(_BOOKED, parameters)
        rows = cursor.fetchall()
    booked_amounts: defaultdict[CategoryMonth, list[BookedAmount]] = defaultdict(list)
    for category_id, day, *values in rows:
        booked_amounts[get_first_day_of_month(day), category_id].append(BookedAmount(day, *values))
    return booked_amounts


def group_planned_totals(
    rules: Iterable[RuleWithOverrides], *, months: Iterable[dt.date]
) -> Mapping[CategoryMonth, list[PlannedTotal]]:
    """Return the open occurrences of planned totals by month and category."""
    totals: defaultdict[CategoryMonth, list[PlannedTotal]] = defaultdict(list)
    for month in months:
        for planned, overrides, settled in rules:
            for occurrence in expand_occurrences(
                planned.recurrence_rule(), overrides, window_start=month, window_end=get_last_day_of_month(month)
            ):
                patch: Any = occurrence.patch
                amount = patch.get("amount_value", planned.amount) - settled.get(occurrence.original_date, ZERO)
                if occurrence.skipped or not amount:
                    continue
                category_id = patch.get("category_id", planned.category_id)
                total = PlannedTotal(
                    planned.id,
                    occurrence.original_date,
                    occurrence.date,
                    amount,
                    planned.currency,
                    patch.get("account_id", planned.account_id),
                    planned.counterparty_id,
                )
                totals[month, category_id].append(total)
    return totals
