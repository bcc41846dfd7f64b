"""What follows when exchange rates arrive: results converted at the rates of those days are converted anew."""

from datetime import date, datetime

from django.db.models import Max, Min
from django.db.models.functions import Coalesce

from companies.changing import changing
from companies.models import Company, Stamp
from companies.running.progress import Tell, counted, silent
from ledger.models import Categorization, RateLoad, Transaction
from ledger.recognition.posting import ROWS_AT_ONCE, repost


def catch_up(*, now: datetime, tell: Tell = silent) -> int | None:
    """Converts what rates have arrived for since all results last stood at the newest ones; None where there are none.

    Who stops it half-way calls it again. Returns how many transactions, raises NoRate.
    """
    first_day = Coalesce("changed_from", date.min)  # a release that did not note it yet may have loaded some
    waiting = RateLoad.objects.waiting().aggregate(newest=Max("id"), since=Min(first_day))
    if waiting["since"] is None:
        return None
    count = revalue(stamp=Stamp(time=now), since=waiting["since"], tell=tell)
    RateLoad.objects.waiting().filter(id__lte=waiting["newest"]).update(revalued_time=now)
    return count


def revalue(*, stamp: Stamp, since: date, tell: Tell = silent) -> int:
    """Writes the postings of foreign transactions dated ``since`` or later anew, company by company; how many.

    Each company's is a change of its own. Raises NoRate.
    """
    companies = Company.objects.order_by("id")
    each = counted(companies, total=len(companies), tell=tell, doing="Converting results of company")
    return sum(revalue_one(company, stamp=stamp, since=since) for company in each)


def revalue_one(company: Company, *, stamp: Stamp, since: date) -> int:
    """The same for one company."""
    count = 0
    with changing(company, stamp=stamp):
        parts = Categorization.objects.of(company.id).counted()
        rows = (
            Transaction.objects.of(company.id)
            .filter(date__gte=since, id__in=parts.values("transaction_id"))
            .exclude(amount_currency=company.base_currency)
            .order_by("id")
            .values_list("id", flat=True)
        )
        ids = list(rows[:ROWS_AT_ONCE])
        while ids:
            repost(company=company, transaction_ids=ids)
            count += len(ids)
            ids = list(rows.filter(id__gt=ids[-1])[:ROWS_AT_ONCE])
    return count
