"""Results that depend on a company's subscription events and exchange rates only, cached until these change.

Reading the events of 100,000 customers takes about a second, for each page anew.
"""

from collections.abc import Callable
from hashlib import sha256
from typing import Any, TypeVar

from django.core.cache import cache

from companies.models import Company
from ledger.models import RecurringRevenueState
from ledger.money.calc.fx import RateTable

T = TypeVar("T")
MAX_AGE = 24 * 60 * 60  # seconds


def get_or_compute(compute: Callable[[], T], *, company: Company, rates: RateTable, parameters: tuple[Any, ...]) -> T:
    """Return the cached result, or compute it.

    The version is read before the events. If they change meanwhile, the newer result is cached under a version that
    nobody asks for any more.

    Args:
        parameters: the name of the result, and all that it depends on besides events, rates and base currency.
    """
    state = RecurringRevenueState.objects.filter(company_id=company.id).values_list("events_version", flat=True)
    events_version = state.first()
    if events_version is None:  # never had events
        return compute()
    key = repr((company.id, events_version, rates.version, company.base_currency, parameters))
    digest = f"revenue:{sha256(key.encode()).hexdigest()}"
    result: T | None = cache.get(digest)
    if result is None:
        result = compute()
        cache.set(digest, result, MAX_AGE)
    return result
