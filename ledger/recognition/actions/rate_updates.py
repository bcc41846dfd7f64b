"""Convert postings to exchange rates that were loaded after them."""

from collections.abc import Sequence
from datetime import date, datetime
from uuid import UUID

from django.db import connection
from django.db.models import Max, Min
from django.db.models.functions import Coalesce

from companies.change import change_company
from companies.maintenance.progress_bar import ProgressCallback, ignore_progress, track_progress
from companies.models import AuditContext, Company, IdIn
from ledger.models import Categorization, RateLoad, Transaction
from ledger.money.rates import allow_late_rate_conversions
from ledger.recognition.actions.postings import (
    POSTING_CHUNK_ROWS,
    find_rates_of_transactions,
    rebuild_company_postings,
)


def convert_results_to_new_rates(*, now: datetime, report_progress: ProgressCallback = ignore_progress) -> int | None:
    """Convert results to rates loaded since the last complete run; None if there are no new rates.

    If it is stopped half-way, call it again. Returns the number of transactions. Raises MissingRateError.
    """
    first_day = Coalesce("changed_from", date.min)  # a release that did not note it yet may have loaded some
    pending_loads = RateLoad.objects.pending_revaluation().aggregate(newest=Max("id"), since=Min(first_day))
    if pending_loads["since"] is None:
        return None
    count = convert_postings_to_new_rates(
        context=AuditContext(time=now), since=pending_loads["since"], report_progress=report_progress
    )
    RateLoad.objects.pending_revaluation().filter(id__lte=pending_loads["newest"]).update(revalued_time=now)
    return count


def convert_postings_to_new_rates(
    *, context: AuditContext, since: date, report_progress: ProgressCallback = ignore_progress
) -> int:
    """Convert the postings of foreign-currency transactions dated ``since`` or later, company by company.

    One change for each company. Returns the number of transactions. Raises MissingRateError.
    """
    companies = Company.objects.order_by("id")
    tracked_companies = track_progress(
        companies, total=len(companies), report_progress=report_progress, task="Converting results of company"
    )
    return sum(convert_company_postings(company, context=context, since=since) for company in tracked_companies)


def convert_company_postings(company: Company, *, context: AuditContext, since: date) -> int:
    """Convert the postings of foreign-currency transactions of one company."""
    with change_company(company, context=context):
        return convert_foreign_postings(company, since=since)


def convert_foreign_postings(company: Company, *, since: date) -> int:
    """Convert the postings of foreign-currency transactions inside a running change; returns how many transactions."""
    count = 0
    counted_categorizations = Categorization.objects.for_company(company.id).counted_in_results()
    rows = (
        Transaction.objects.for_company(company.id)
        .filter(date__gte=since, id__in=counted_categorizations.values("transaction_id"))
        .exclude(amount_currency=company.base_currency)
        .order_by("id")
        .values_list("id", flat=True)
    )
    with allow_late_rate_conversions():
        ids = list(rows[:POSTING_CHUNK_ROWS])
        while ids:
            convert_postings(company=company, transaction_ids=ids)
            count += len(ids)
            ids = list(rows.filter(id__gt=ids[-1])[:POSTING_CHUNK_ROWS])
    return count


# The quotient has 40 decimals before it is rounded, as that of `write_plain_postings`.
_CONVERT_POSTINGS = """
    UPDATE ledger_posting AS posting SET base_amount = converted.base_amount
      FROM (SELECT p.categorization_id, p.pl_type, p.month, p.base_amount AS stored_amount,
                   round((p.amount * rate.target)::numeric(80, 40) / rate.source, 10) AS base_amount
              FROM ledger_transaction AS t
              JOIN ledger_categorization AS c ON c.company_id = %(company)s AND c.transaction_id = t.id
              JOIN ledger_posting AS p ON p.company_id = %(company)s AND p.categorization_id = c.id
              JOIN unnest(%(currencies)s::text[], %(days)s::date[], %(targets)s::numeric[], %(sources)s::numeric[])
                   AS rate (currency, day, target, source) ON rate.currency = t.amount_currency AND rate.day = t.date
             WHERE t.company_id = %(company)s AND t.id = ANY(%(ids)s::uuid[])) AS converted
     WHERE posting.company_id = %(company)s AND posting.categorization_id = converted.categorization_id
       AND posting.pl_type = converted.pl_type AND posting.month = converted.month
       AND converted.base_amount <> converted.stored_amount
"""


def convert_postings(*, company: Company, transaction_ids: Sequence[UUID]) -> None:
    """Convert the base amounts of the postings of foreign-currency transactions at current rates; two statements.

    Raises MissingRateError.
    """
    transactions = Transaction.objects.for_company(company.id).filter(IdIn("id", list(transaction_ids)))
    rates = find_rates_of_transactions(transactions, company=company)
    with connection.cursor() as cursor:
        cursor.execute(_CONVERT_POSTINGS, {"company": company.id, "ids": list(transaction_ids), **rates})


def rebuild_postings_at_current_rates(company_id: UUID) -> None:
    """Rebuild all postings of a company; in closed months only late exchange rates change results.

    Raises:
        MissingRateError: a currency has no exchange rate.
        django.db.IntegrityError: postings of a closed month are not those of its categorizations.
    """
    convert_foreign_postings(Company.objects.get(id=company_id), since=date.min)
    rebuild_company_postings(company_id)
