"""Transactions that match open occurrences: proposals, candidates, and automatic settlement of equal amounts."""

import datetime as dt
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from typing import Any
from uuid import UUID

from django.db.models import Exists, OuterRef, Q

from companies.change import CompanyChange
from companies.closed_periods import is_day_closed
from companies.models import Company
from ledger.calc.recognition import DateRule
from ledger.models import Categorization, DismissedMatch, Transaction
from ledger.money.rates import get_rate_table
from ledger.transactions.actions.audit_links import link_audit_entry
from ledger.transactions.queries.transfer_candidates import build_day_range
from planning.calc.invoice_matching import BankTransaction
from planning.calc.settlement_matching import BookedTransaction, OpenOccurrence, SettlementMatch, match_occurrences
from planning.forecast.queries import PlannedFlow, build_invoice_flow, iter_planned_flows
from planning.models import PlannedOverride, PlannedTransaction, SettledBy, Settlement
from planning.planned_transactions.queries.contradictions import find_contradicting_matches
from planning.planned_transactions.queries.invoice_evidence import (
    InvoiceFacts,
    filter_named_rows,
    find_first_invoice_day,
    find_invoice_matches,
    iter_bank_transactions,
    load_invoice_facts,
    to_booked_transaction,
    to_settlement_match,
)
from planning.planned_transactions.queries.occurrences import check_occurrence_window, limit_occurrences
from planning.planned_transactions.queries.open_invoices import list_open_invoices
from planning.planned_transactions.queries.party_evidence import build_unrelated_check
from planning.planned_transactions.settled_categories import categorize_settling_transactions
from planning.planned_transactions.settlements import recompute_settled_amounts, touch_settling_transactions

MAX_MATCH_DAYS = 10  # between the occurrence and the transaction
AMOUNT_TOLERANCE = Decimal("0.10")
AUTO_SETTLE_DAYS = 5  # for equal amounts, which are settled automatically
MAX_LOGGED_PAIRS = 100  # pairs listed in the audit log


def propose_matches(*, company: Company, window_start: dt.date, window_end: dt.date) -> list[SettlementMatch]:
    """Propose a transaction for each open occurrence of a window.

    Raises:
        ValidationFailed: the window is reversed, too long, or has too many occurrences.
    """
    check_occurrence_window(window_start, window_end)
    open_occurrences = [
        build_open_occurrence(flow) for flow in limit_occurrences(iter_planned_flows(company, window_start, window_end))
    ]
    return match_open_occurrences(company=company, open_occurrences=open_occurrences, with_sums=True)


def match_open_occurrences(
    *,
    company: Company,
    open_occurrences: Iterable[OpenOccurrence],
    days: tuple[dt.date, dt.date] | None = None,
    with_sums: bool = False,
    amount_proves: bool = True,
) -> list[SettlementMatch]:
    """Match open occurrences with transactions of the same direction; dismissed pairs are left out.

    Invoices are matched first: by number or reference in the texts, whenever it was paid, or by counterparty and
    exact amount. Then an amount within 10 % and ten days is enough; one that is not equal only if the transaction names
    no other party than planned. The transaction is on the occurrence's account, or on any if it has none. Currencies
    are compared at the day's rate. At most eight statements.

    Args:
        days: first and last date of the occurrences, where the caller knows them; then nothing is built
            for a company in which nothing could match.
        with_sums: whether one transaction may pay several invoices.
        amount_proves: whether an equal amount is enough for a counterparty's invoice where the bank names another.
    """
    if days is None:
        open_occurrences = list(open_occurrences)
        if not open_occurrences:
            return []
        days = min(each.date for each in open_occurrences), max(each.date for each in open_occurrences)
    window = extend_window(*days, MAX_MATCH_DAYS)
    plans = PlannedTransaction.objects.for_company(company.id).filter(is_closed=False)
    facts = load_invoice_facts(company, plans=plans)
    if facts:
        open_occurrences = list(open_occurrences)
        open_ids = {each.planned_id for each in open_occurrences}
        facts = {planned_id: fact for planned_id, fact in facts.items() if planned_id in open_ids}
    rows = exclude_unsuitable_transactions(
        filter_named_rows(
            Transaction.objects.for_company(company.id), since=find_first_invoice_day(facts.values()), window=window
        )
    )
    transactions = list(iter_bank_transactions(rows))
    if not transactions:
        return []
    dismissed = load_dismissed_matches(company)
    matches: list[SettlementMatch] = []
    if facts:
        invoice_matches = find_invoice_matches(
            open_occurrences, transactions, facts=facts, max_days=MAX_MATCH_DAYS, dismissed=dismissed
        )
        matches = [to_settlement_match(match) for match in invoice_matches if with_sums or len(match.settlements) == 1]
    matched_ids = {match.transaction.id for match in matches}
    matched_occurrences = {
        (occurrence.planned_id, occurrence.original_date)
        for match in matches
        for occurrence, _ in list_settled_parts(match)
    }
    return matches + match_occurrences(
        (each for each in open_occurrences if (each.planned_id, each.original_date) not in matched_occurrences),
        (to_booked_transaction(row) for row in transactions if row.id not in matched_ids),
        max_days=MAX_MATCH_DAYS,
        tolerance=AMOUNT_TOLERANCE,
        rates=get_rate_table(),
        dismissed=dismissed,
        is_unrelated=build_unrelated_check(
            company, transactions, plans=plans, window=window, with_equal_amounts=not amount_proves
        ),
    )


def list_settled_parts(match: SettlementMatch) -> Sequence[tuple[OpenOccurrence, Decimal]]:
    """Return what a match settles: each occurrence with its amount of the transaction."""
    return match.settlements or ((match.occurrence, match.transaction.amount),)


def load_dismissed_matches(company: Company) -> set[tuple[UUID, UUID, dt.date]]:
    """Return the pairs that were dismissed: (transaction, planned transaction, original date). One statement."""
    rows = DismissedMatch.objects.for_company(company.id).occurrences()
    return {
        (booked, planned, day) for booked, planned, day in rows.values_list("transaction_id", "other_id", "day") if day
    }


def exclude_unsuitable_transactions(rows: Any) -> Any:
    """Keep the transactions that can settle an occurrence: booked, no initial balance, settling none yet."""
    settlements = Settlement.objects.filter(company=OuterRef("company"), transaction=OuterRef("id"))
    return rows.booked().without_initial_balances().exclude(Exists(settlements))


def build_open_occurrence(flow: PlannedFlow) -> OpenOccurrence:
    return OpenOccurrence(flow.planned_id, flow.original_date, flow.date, flow.amount, flow.currency, flow.account_id)


def extend_window(first: dt.date, last: dt.date, days: int) -> tuple[dt.date, dt.date]:
    """Extend a window by a number of days at both ends."""
    return build_day_range(first, days=days)[0], build_day_range(last, days=days)[1]


# ---------------------------------------------------------------------------------------------- automatic settlement


def settle_booked_transactions(*, change: CompanyChange, rows: Any) -> None:
    """Settle open occurrences by new transactions of equal amount and currency.

    Invoices are settled by transactions whose text has their number or reference, whenever they were booked, and
    several by one of their sum; others by transactions at most five days apart. A transaction with another category or
    counterparty settles nothing. Two statements where nothing planned has such an amount, else a constant number.

    Args:
        rows: a queryset of the new transactions.
    """
    company = change.company
    rules_to_settle = PlannedTransaction.objects.for_company(company.id).filter(
        auto_settle=True, settled_by=SettledBy.TRANSACTION
    )
    open_invoices = rules_to_settle.invoices().filter(is_closed=False)
    facts = {key: fact for key, fact in load_invoice_facts(company, plans=open_invoices).items() if fact.is_named}
    pairs: list[SettlementMatch] = []
    if facts:
        named_rows = list(iter_bank_transactions(exclude_unsuitable_transactions(rows)))
        pairs = match_named_invoices(company, named_rows, facts)
    pairs += match_planned_rules(company, rules_to_settle, rows, settled_ids={pair.transaction.id for pair in pairs})
    pairs = drop_closed_invoice_matches(company, drop_contradictions(company, pairs))
    if pairs:
        store_matched_settlements(change, pairs)


def match_planned_rules(company: Company, rules: Any, rows: Any, *, settled_ids: set[UUID]) -> list[SettlementMatch]:
    """Match new transactions to occurrences that are no invoices, by equal amounts within five days."""
    rules = rules.exclude_invoices()
    patched = PlannedOverride.objects.for_company(company.id).filter(amount_value__isnull=False)
    amounts = set(rules.values_list("amount_value").union(patched.values_list("amount_value")))
    if not amounts:
        return []
    suitable_rows = exclude_unsuitable_transactions(rows.filter(amount_value__in=[amount for (amount,) in amounts]))
    transactions = [
        to_booked_transaction(row) for row in iter_bank_transactions(suitable_rows) if row.id not in settled_ids
    ]
    if not transactions:
        return []
    days = [each.date for each in transactions]
    window = extend_window(min(days), max(days), AUTO_SETTLE_DAYS)
    rule_ids = filter_rules_by_amount(rules, transactions, company_id=company.id).values_list("id", flat=True)
    flows = iter_planned_flows(company, *window, rules=rule_ids)
    return match_occurrences(map(build_open_occurrence, flows), transactions, max_days=AUTO_SETTLE_DAYS)


def drop_contradictions(company: Company, matches: list[SettlementMatch]) -> list[SettlementMatch]:
    """Return the matches without those whose category or counterparty contradicts the transaction's."""
    wrong = find_contradicting_matches(
        company,
        {
            (occurrence.planned_id, match.transaction.id)
            for match in matches
            for occurrence, _ in list_settled_parts(match)
        },
    )
    return [
        match
        for match in matches
        if not any(
            (occurrence.planned_id, match.transaction.id) in wrong for occurrence, _ in list_settled_parts(match)
        )
    ]


def match_named_invoices(
    company: Company, transactions: list[BankTransaction], facts: dict[UUID, InvoiceFacts]
) -> list[SettlementMatch]:
    """Return the matches that a number or reference and the exact amount or sum prove, without an equal candidate."""
    if not transactions:
        return []
    flows = map(build_invoice_flow, list_open_invoices(company.id, end=dt.date.max, planned_ids=list(facts)))
    matches = find_invoice_matches(
        map(build_open_occurrence, flows), transactions, facts=facts, max_days=AUTO_SETTLE_DAYS
    )
    return [to_settlement_match(match) for match in matches if match.can_be_applied]


def drop_closed_invoice_matches(company: Company, matches: list[SettlementMatch]) -> list[SettlementMatch]:
    """Return the matches without those whose invoice date would change what is recognized in a closed month."""
    if company.closed_through is None or not matches:
        return matches
    planned = PlannedTransaction.objects.for_company(company.id).filter(
        id__in={occurrence.planned_id for match in matches for occurrence, _ in list_settled_parts(match)},
        invoice_date__isnull=False,
    )
    invoice_dates = dict(planned.values_list("id", "invoice_date"))
    invoice_dates_by_transaction = {
        match.transaction.id: [
            invoice_dates[occurrence.planned_id]
            for occurrence, _ in list_settled_parts(match)
            if occurrence.planned_id in invoice_dates
        ]
        for match in matches
    }
    ids = [transaction_id for transaction_id, dates in invoice_dates_by_transaction.items() if dates]
    by_invoice = Q(rule=DateRule.INVOICE_DATE)
    if company.pl_recognize_revenue_on_invoice:
        by_invoice |= Q(rule=DateRule.TRANSACTION_DATE, revenue__isnull=False)
    categorizations = Categorization.objects.for_company(company.id).filter(
        by_invoice, transaction_id__in=ids, invoice_date=None
    )
    starts = list(categorizations.values_list("transaction_id", "computed_start_date"))
    dependent_ids = {transaction_id for transaction_id, _ in starts}
    closed_ids = {transaction_id for transaction_id, start in starts if is_day_closed(company, start)}
    closed_ids |= {
        transaction_id
        for transaction_id in dependent_ids
        if any(is_day_closed(company, day) for day in invoice_dates_by_transaction[transaction_id])
    }
    return [match for match in matches if match.transaction.id not in closed_ids]


def filter_rules_by_amount(plans: Any, transactions: list[BookedTransaction], *, company_id: UUID) -> Any:
    """Filter rules that could expect one of the transactions, by their own amount or an overridden one."""
    amounts = {each.amount for each in transactions}
    patched = PlannedOverride.objects.for_company(company_id).filter(planned=OuterRef("id"), amount_value__in=amounts)
    return plans.filter(Q(amount_value__in=amounts) | Exists(patched))


def store_matched_settlements(change: CompanyChange, pairs: list[SettlementMatch]) -> None:
    """Store pairs of equal amount and currency as settlements, with one audit entry."""
    company, context = change.company, change.context
    rows = [
        Settlement(
            company_id=company.id,
            planned_id=occurrence.planned_id,
            original_date=occurrence.original_date,
            transaction_id=pair.transaction.id,
            amount_value=amount,
            transaction_amount_value=amount,
        )
        for pair in pairs
        for occurrence, amount in list_settled_parts(pair)
    ]
    Settlement.objects.bulk_create(rows)
    recompute_settled_amounts(company.id, {row.planned_id for row in rows})
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
