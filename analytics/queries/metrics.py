"""What a company is told about itself in lists: committed recurring revenue and active customers."""

from contextlib import suppress

from companies.models import Company, Stamp
from companies.time_zones import get_today
from ledger.calc.months import last_of_month
from ledger.money.rates import rate_table
from ledger.recognition.posting import NoRate
from ledger.subscriptions import committed


def store_metrics(*, company: Company, stamp: Stamp) -> None:
    """Committed recurring revenue in euro, and customers with any, at the end of the running month.

    Unknown, which is null, where a currency has no rate at all.
    """
    month_end = last_of_month(get_today(company, stamp.time))
    worth, customers = None, None
    with suppress(NoRate):
        worth, customers = committed.in_all(company_id=company.id, month_end=month_end, base="EUR", rates=rate_table())
    Company.objects.filter(id=company.id).update(
        computed_committed_mrr_eur=worth, computed_active_customer_count=customers, computed_metrics_time=stamp.time
    )
