"""Convert postings to exchange rates that were loaded after them."""

from datetime import date, datetime

from django.db.models import Max, Min
from django.db.models.functions import Coalesce

from companies.change import change_company
from companies.maintenance.progress_bar import ProgressCallback, ignore_progress, track_progress
from companies.models import AuditContext, Company
from ledger.models import Categorization, RateLoad, Transaction
from ledger.recognition.actions.postings import POSTING_CHUNK_ROWS, allow_late_rates, rebuild_postings


def convert_results_to_new_rates(*, now: datetime, tell: ProgressCallback = ignore_progress) -> int | None:
    """Convert results to rates loaded since the last complete run; None if there are no new rates.

    If it is stopped half-way, call it again. Returns the number of transactions. Raises MissingRateError.
    """
    first_day = Coalesce("changed_from", date.min)  # a release that did not note it yet may have loaded some
    pending_loads = RateLoad.objects.pending_revaluation().aggregate(newest=Max("id"), since=Min(first_day))
    if pending_loads["since"] is None:
        return None
    count = convert_postings_to_new_rates(context=AuditContext(time=now), since=pending_loads["since"], tell=tell)
    RateLoad.objects.pending_revaluation().filter(id__lte=pending_loads["newest"]).update(revalued_time=now)
    return count


def convert_postings_to_new_rates(
    *, context: AuditContext, since: date, tell: ProgressCallback = ignore_progress
) -> int:
    """Rebuild the postings of foreign-currency transactions dated ``since`` or later, company by company.

    One change for each company. Returns the number of transactions. Raises MissingRateError.
    """
    companies = Company.objects.order_by("id")
    tracked_companies = track_progress(
        companies, total=len(companies), report_progress=tell, task="Converting results of company"
    )
    return sum(convert_company_postings(company, context=context, since=since) for company in tracked_companies)


def convert_company_postings(company: Company, *, context: AuditContext, since: date) -> int:
    """Rebuild the postings of foreign-currency transactions of one company."""
    count = 0
    with change_company(company, context=context), allow_late_rates():
        counted_categorizations = Categorization.objects.for_company(company.id).counted_in_results()
        rows = (
            Transaction.objects.for_company(company.id)
            .filter(date__gte=since, id__in=counted_categorizations.values("transaction_id"))
            .exclude(amount_currency=company.base_currency)
            .order_by("id")
            .values_list("id", flat=True)
        )
        ids = list(rows[:POSTING_CHUNK_ROWS])
        while ids:
            rebuild_postings(company=company, transaction_ids=ids)
            count += len(ids)
            ids = list(rows.filter(id__gt=ids[-1])[:POSTING_CHUNK_ROWS])
    return count
