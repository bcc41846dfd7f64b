"""What a test that commits leaves behind goes, and nothing else.

Django would empty every table, then make its content types and permissions anew, and the rates of 27 years would be
loaded again: seconds for each test, on a slow machine five.
"""

from datetime import UTC, datetime
from functools import cache

from django.db import connection
from django.test import TransactionTestCase

from ledger.models import RateLoad
from ledger.money.rates import load_packaged_rates

STAY = {"django_migrations", "django_content_type", "auth_permission"}
RATES = {"ledger_rate", "ledger_rateload"}
_LOADED: set[int] = set()  # the arrivals of rates that every test starts with


def start() -> None:
    """With the packaged rates, and what tests leave behind is taken away from now on."""
    load_rates()
    TransactionTestCase._fixture_teardown = empty


def load_rates() -> None:
    load_packaged_rates(now=datetime.now(tz=UTC))
    _LOADED.clear()
    _LOADED.update(RateLoad.objects.values_list("id", flat=True))


def empty(_: TransactionTestCase) -> None:
    untouched = set(RateLoad.objects.values_list("id", flat=True)) == _LOADED  # no rate changes without an arrival
    names = tables() - (RATES if untouched else set())
    with connection.cursor() as cursor:
        cursor.execute(f"TRUNCATE {', '.join(map(connection.ops.quote_name, sorted(names)))}")
    if untouched:
        RateLoad.objects.update(revalued_time=None)
    else:
        load_rates()


@cache
def tables() -> set[str]:
    return set(connection.introspection.django_table_names(only_existing=True, include_views=False)) - STAY
