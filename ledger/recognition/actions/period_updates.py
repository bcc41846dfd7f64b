"""Recompute service periods after a transaction, its invoice date or a company setting changed."""

from uuid import UUID

from django.db import connection

from companies.change import CompanyChange, change_company
from companies.models import AuditContext, Company
from ledger.models import Categorization, Transaction
from ledger.recognition.actions.postings import rebuild_company_postings, rebuild_postings
from ledger.recognition.service_periods import RecognitionRule, find_invoice_dates, resolve_service_period

PERIOD_CHUNK_ROWS = 20_000


def recompute_periods(change: CompanyChange, transaction_ids: list[UUID]) -> None:
    """Recompute the service periods of transactions and their postings, in a constant number of statements.

    For a changed transaction, a file that was attached or parsed, a settled planned transaction.
    Raises MissingRateError, PeriodOutOfRange.
    """
    store_changed_periods(change, transaction_ids)
    rebuild_postings(company=change.company, transaction_ids=transaction_ids)


def store_changed_periods(change: CompanyChange, transaction_ids: list[UUID]) -> None:
    """Store the periods that changed and mark their transactions as updated, because the API shows the dates."""
    company, context = change.company, change.context
    known_invoice_dates = find_invoice_dates(company_id=company.id, transaction_ids=transaction_ids)
    changed_periods, changed_transaction_ids = [], set()
    rows = Categorization.objects.for_company(company.id).filter(transaction_id__in=transaction_ids)
    for row in rows.values_list(
        "id",
        "transaction_id",
        "transaction__date",
        "rule",
        "rule_start_date",
        "rule_end_date",
        "invoice_date",
        "revenue",
        "computed_start_date",
        "computed_end_date",
    ):
        categorization_id, transaction_id, day, rule, rule_start, rule_end, invoice_date, revenue, start, end = row
        period_dates = resolve_service_period(
            RecognitionRule(rule, rule_start, rule_end, invoice_date),
            day=day,
            known_invoice_date=known_invoice_dates.get(transaction_id),
            recognize_revenue_on_invoice=company.pl_recognize_revenue_on_invoice,
            has_revenue=revenue is not None,
        )
        if period_dates != (start, end):
            changed_periods.append((categorization_id, *period_dates))
            changed_transaction_ids.add(transaction_id)
    if changed_periods:
        ids, starts, ends = (list(column) for column in zip(*changed_periods, strict=True))
        with connection.cursor() as cursor:
            cursor.execute(
                "UPDATE ledger_categorization c SET computed_start_date = m.start_date, computed_end_date = m.end_date "
                "FROM unnest(%s::uuid[], %s::date[], %s::date[]) AS m (id, start_date, end_date) "
                "WHERE c.company_id = %s AND c.id = m.id",
                [ids, starts, ends, company.id],
            )
        Transaction.objects.for_company(company.id).filter(id__in=changed_transaction_ids).update(
            last_updated_time=context.time, last_updated_user_id=context.actor
        )


def recompute_company_results(*, company: Company, context: AuditContext, changed: set[str]) -> None:
    """Recompute what depends on the base currency and on when revenue counts. Raises MissingRateError."""
    with change_company(company, context=context) as change:
        if "pl_recognize_revenue_on_invoice" in changed:
            rows = Transaction.objects.for_company(company.id).exclude(categorized_value=0).order_by("id")
            ids = list(rows.values_list("id", flat=True)[:PERIOD_CHUNK_ROWS])
            while ids:
                store_changed_periods(change, ids)
                ids = list(rows.filter(id__gt=ids[-1]).values_list("id", flat=True)[:PERIOD_CHUNK_ROWS])
        rebuild_company_postings(company.id)
