"""Metrics of a company in lists: committed recurring revenue and active customers."""

from contextlib import suppress

from companies.models import AuditContext, Company
from companies.time_zones import get_today
from ledger.calc.months import get_last_day_of_month
from ledger.money.rates import get_rate_table
from ledger.recognition.actions.postings import MissingRateError
from ledger.subscriptions.queries import committed_revenue


def store_company_metrics(*, company: Company, context: AuditContext) -> None:
    """Store committed recurring revenue in euro, and customers with any, at the end of the current month.

    Null where a currency has no exchange rate.
    """
    month_end = get_last_day_of_month(get_today(company, context.time))
    committed_mrr, customers = None, None
    with suppress(MissingRateError):
        committed_mrr, customers = committed_revenue.compute_committed_revenue(
            company_id=company.id, month_end=month_end, base_currency="EUR", rates=get_rate_table()
        )
    Company.objects.filter(id=company.id).update(
        computed_committed_mrr_eur=committed_mrr,
        computed_active_customer_count=customers,
        computed_metrics_time=context.time,
    )
