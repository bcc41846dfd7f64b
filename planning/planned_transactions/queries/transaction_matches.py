"""Transactions that match open occurrences: proposals, candidates, and automatic settlement of equal amounts."""

import datetime as dt
from collections.abc import Iterable, Iterator, Mapping
from decimal import Decimal
from typing import Any
from uuid import UUID

from django.db.models import Exists, F, OuterRef, Q, Subquery, Sum
from django.db.models.functions import Abs, Coalesce

from companies.change import CompanyChange
from companies.closed_periods import is_closed
from companies.models import Company
from ledger.calc.recognition import DateRule
from ledger.models import Categorization, RefusedMatch, Transaction
from ledger.money.rates import get_rate_table
from ledger.transactions.actions.audit_links import link_audit_entry
from ledger.transactions.queries.transfer_candidates import build_day_range, compute_days_apart
from planning.calc.settlement_matching import BookedTransaction, OpenOccurrence, SettlementMatch, match_occurrences
from planning.forecast.queries import PlannedFlow, iter_planned_flows
from planning.models import PlannedOverride, PlannedTransaction, SettledBy, Settlement
from planning.planned_transactions.queries.occurrences import (
    PlannedOccurrence,
    check_occurrence_window,
    limit_occurrences,
)
from planning.planned_transactions.settled_categories import categorize_settling_transactions
from planning.planned_transactions.settlements import recompute_closed, touch_settling_transactions

MAX_MATCH_DAYS = 10  # between the occurrence and the transaction
AMOUNT_TOLERANCE = Decimal("0.10")
MAX_CANDIDATE_DAYS, MAX_CANDIDATES = 60, 15  # of the candidates that users choose from
AUTO_SETTLE_DAYS = 5  # for equal amounts, which are settled automatically
MAX_LOGGED_PAIRS = 100  # pairs listed in the audit log
BOOKED_COLUMNS = ("id", "date", "amount_value", "amount_currency", "account_id")  # in the order of BookedTransaction


def propose_matches(*, company: Company, window_start: dt.date, window_end: dt.date) -> list[SettlementMatch]:
    """Propose a transaction for each open occurrence of a window.

    Raises:
        ValidationFailed: the window is reversed, too long, or has too many occurrences.
    """
    check_occurrence_window(window_start, window_end)
    open_occurrences = [
        build_open_occurrence(flow) for flow in limit_occurrences(iter_planned_flows(company, window_start, window_end))
    ]
    return match_open_occurrences(company=company, open_occurrences=open_occurrences)


def match_open_occurrences(
    *, company: Company, open_occurrences: Iterable[OpenOccurrence], days: tuple[dt.date, dt.date] | None = None
) -> list[SettlementMatch]:
    """Match each open occurrence with a transaction: same direction, within 10 % of the amount and ten days.

    The transaction is on the occurrence's account, or on any if it has none. Currencies are compared at the
    day's rate. Dismissed pairs are left out. Three statements.

    Args:
        days: first and last date of the occurrences, where the caller knows them; then nothing is built
            for a company in which nothing could match.
    """
    if days is None:
        open_occurrences = list(open_occurrences)
        if not open_occurrences:
            return []
        days = min(each.date for each in open_occurrences), max(each.date for each in open_occurrences)
    rows = [
        *iter_unsettled_transactions(
            Transaction.objects.for_company(company.id).filter(date__range=extend_window(*days, MAX_MATCH_DAYS))
        )
    ]
    if not rows:
        return []
    dismissed = (
        RefusedMatch.objects.for_company(company.id).occurrences().values_list("transaction_id", "other_id", "day")
    )
    return match_occurrences(
        open_occurrences,
        rows,
        max_days=MAX_MATCH_DAYS,
        tolerance=AMOUNT_TOLERANCE,
        rates=get_rate_table(),
        dismissed={(booked, planned, day) for booked, planned, day in dismissed if day},
    )


def list_settlement_candidates(*, planned: PlannedTransaction, occurrence: PlannedOccurrence) -> list[Transaction]:
    """List up to 15 transactions that could settle an occurrence, whatever their amount, if anything is left of them.

    Nearest amounts first, then nearest days. They are on its account, or on any if it has none, in its
    direction, and at most 60 days away. `used_value` is what they settle elsewhere. One statement.
    """
    amount, day = Decimal(occurrence.open_amount_value), occurrence.date
    settlements = Settlement.objects.for_company(planned.company_id).filter(transaction=OuterRef("id")).order_by()
    used = settlements.values("transaction").annotate(used=Sum("transaction_amount_value")).values("used")
    rows = (
        Transaction.objects.for_company(planned.company_id)
        .filter(date__range=extend_window(day, day, MAX_CANDIDATE_DAYS))
        .booked()
        .without_initial_balances()
        .annotate(used_value=Coalesce(Subquery(used), Decimal(0)))
        .exclude(used_value=F("amount_value"))
    )
    rows = rows.filter(amount_value__gt=0) if amount > 0 else rows.filter(amount_value__lt=0)
    if occurrence.account_id:
        rows = rows.filter(account=occurrence.account_id)
    return list(rows.order_by(Abs(F("amount_value") - amount), compute_days_apart(day), "id")[:MAX_CANDIDATES])


def exclude_unsuitable_transactions(rows: Any) -> Any:
    """Keep the transactions that can settle an occurrence: booked, no initial balance, settling none yet."""
    settlements = Settlement.objects.filter(company=OuterRef("company"), transaction=OuterRef("id"))
    return rows.booked().without_initial_balances().exclude(Exists(settlements))


def iter_unsettled_transactions(rows: Any) -> Iterator[BookedTransaction]:
    """Yield the transactions of a queryset that can settle an occurrence, as values for matching."""
    return (BookedTransaction(*values) for values in exclude_unsuitable_transactions(rows).values_list(*BOOKED_COLUMNS))


def build_open_occurrence(flow: PlannedFlow) -> OpenOccurrence:
    return OpenOccurrence(flow.planned_id, flow.original_date, flow.date, flow.amount, flow.currency, flow.account_id)


def extend_window(first: dt.date, last: dt.date, days: int) -> tuple[dt.date, dt.date]:
    """Extend a window by a number of days at both ends."""
    return build_day_range(first, days=days)[0], build_day_range(last, days=days)[1]


# ---------------------------------------------------------------------------------------------- automatic settlement


def settle_booked_transactions(*, change: CompanyChange, rows: Any) -> None:
    """Settle open occurrences by new transactions of equal amount and currency, at most five days apart.

    One statement where nothing planned has such an amount, else a constant number.

    Args:
        rows: a queryset of the new transactions.
    """
    company = change.company
    rules_to_settle = PlannedTransaction.objects.for_company(company.id).filter(
        auto_settle=True, settled_by=SettledBy.TRANSACTION
    )
    patched = PlannedOverride.objects.for_company(company.id).filter(amount_value__isnull=False)
    amounts = set(rules_to_settle.values_list("amount_value").union(patched.values_list("amount_value")))
    if not amounts:
        return
    transactions = [*iter_unsettled_transactions(rows.filter(amount_value__in=[amount for (amount,) in amounts]))]
    if not transactions:
        return
    days = [each.date for each in transactions]
    rules = filter_rules_by_amount(rules_to_settle, transactions, company_id=company.id).values_list("id", flat=True)
    open_occurrences = iter_planned_flows(company, *extend_window(min(days), max(days), AUTO_SETTLE_DAYS), rules=rules)
    pairs = drop_closed_invoice_matches(
        company,
        match_occurrences(map(build_open_occurrence, open_occurrences), transactions, max_days=AUTO_SETTLE_DAYS),
    )
    if pairs:
        settle_pairs(change, pairs)


def drop_closed_invoice_matches(company: Company, matches: list[SettlementMatch]) -> list[SettlementMatch]:
    """Return the matches without those whose invoice date would change what is recognized in a closed month."""
    if company.closed_through is None or not matches:
        return matches
    planned = PlannedTransaction.objects.for_company(company.id).filter(
        id__in={match.occurrence.planned_id for match in matches}, invoice_date__isnull=False
    )
    invoice_dates = dict(planned.values_list("id", "invoice_date"))
    ids = [match.transaction.id for match in matches if match.occurrence.planned_id in invoice_dates]
    by_invoice = Q(rule=DateRule.INVOICE_DATE)
    if company.pl_recognize_revenue_on_invoice:
        by_invoice |= Q(rule=DateRule.TRANSACTION_DATE, revenue__isnull=False)
    categorizations = Categorization.objects.for_company(company.id).filter(
        by_invoice, transaction_id__in=ids, invoice_date=None
    )
    starts = list(categorizations.values_list("transaction_id", "computed_start_date"))
    dependent_ids = {transaction_id for transaction_id, _ in starts}
    closed_ids = {transaction_id for transaction_id, start in starts if is_closed(company, start)}
    closed_ids |= {
        match.transaction.id
        for match in matches
        if match.transaction.id in dependent_ids and is_closed(company, invoice_dates.get(match.occurrence.planned_id))
    }
    return [match for match in matches if match.transaction.id not in closed_ids]


def filter_rules_by_amount(plans: Any, transactions: list[BookedTransaction], *, company_id: UUID) -> Any:
    """Filter rules that could expect one of the transactions, by their own amount or an overridden one."""
    amounts = {each.amount for each in transactions}
    patched = PlannedOverride.objects.for_company(company_id).filter(planned=OuterRef("id"), amount_value__in=amounts)
    return plans.filter(Q(amount_value__in=amounts) | Exists(patched))


def settle_pairs(change: CompanyChange, pairs: list[SettlementMatch]) -> None:
    """Store pairs of equal amount and currency as settlements, with one audit entry."""
    company, context = change.company, change.context
    rows = [
        Settlement(
            company_id=company.id,
            planned_id=pair.occurrence.planned_id,
            original_date=pair.occurrence.original_date,
            transaction_id=pair.transaction.id,
            amount_value=pair.transaction.amount,
            transaction_amount_value=pair.transaction.amount,
        )
        for pair in pairs
    ]
    Settlement.objects.bulk_create(rows)
    recompute_closed(company.id, {row.planned_id for row in rows})
    plans = PlannedTransaction.objects.for_company(company.id).filter(id__in={row.planned_id for row in rows})
    plans.update(last_updated_time=context.time, last_updated_user_id=context.actor)
    invoiced_ids = set(plans.filter(invoice_date__isnull=False).values_list("id", flat=True))
    touch_settling_transactions(
        change, [row.transaction_id for row in rows if row.planned_id in invoiced_ids], periods_changed=True
    )
    categorize_settling_transactions(change, [row.transaction_id for row in rows if row.transaction_id])
    invoices = {row.id: row for row in plans.invoices()}
    record_paid_invoices(change, invoices, rows)
    rows = [row for row in rows if row.planned_id not in invoices]
    if not rows:
        return
    logged_pairs = [
        {
            "planned_id": row.planned_id,
            "date": row.original_date,
            "transaction_id": row.transaction_id,
            "amount_value": row.amount_value,
        }
        for row in rows[:MAX_LOGGED_PAIRS]
    ]
    after = {"settled": len(rows), "pairs": logged_pairs}
    entry = change.record_bulk("plannedTransactions.settled", "plannedTransaction", after=after)
    link_audit_entry(change, entry, {row.transaction_id for row in rows if row.transaction_id})


def record_paid_invoices(
    change: CompanyChange, invoices: Mapping[UUID, PlannedTransaction], rows: Iterable[Settlement]
) -> None:
    """Record in the audit log which invoices were paid; one entry each."""
    for row in rows:
        if row.transaction_id is None or row.planned_id not in invoices:
            continue
        settlement = {"transaction_id": row.transaction_id, "amount_value": row.amount_value}
        settlements = {"settlements": {row.original_date.isoformat(): [settlement]}}
        entry = change.record(invoices[row.planned_id], "invoice.paid", before={}, after=settlements)
        link_audit_entry(change, entry, {row.transaction_id})
