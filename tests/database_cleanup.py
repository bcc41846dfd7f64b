"""Delete what a committing test leaves behind, and nothing else.

Django would truncate every table, recreate content types and permissions, and reload 27 years of rates:
seconds for each test.
"""

from datetime import UTC, datetime
from functools import cache

from django.db import connection
from django.test import TransactionTestCase

from ledger.models import RateLoad
from ledger.money.rates import load_packaged_rates

KEPT_TABLES = {"django_migrations", "django_content_type", "auth_permission"}
RATE_TABLES = {"ledger_rate", "ledger_rateload"}
_LOADED_RATE_IDS: set[int] = set()  # the arrivals of rates that every test starts with


def install_cleanup() -> None:
    """Load the packaged rates and replace Django's teardown of transactional tests."""
    load_rates()
    TransactionTestCase._fixture_teardown = truncate_tables


def load_rates() -> None:
    load_packaged_rates(now=datetime.now(tz=UTC))
    _LOADED_RATE_IDS.clear()
    _LOADED_RATE_IDS.update(RateLoad.objects.values_list("id", flat=True))


def truncate_tables(_: TransactionTestCase) -> None:
    untouched = (
        set(RateLoad.objects.values_list("id", flat=True)) == _LOADED_RATE_IDS
    )  # no rate changes without an arrival
    table_names = list_tables() - (RATE_TABLES if untouched else set())
    with connection.cursor() as cursor:
        cursor.execute(f"TRUNCATE {', '.join(map(connection.ops.quote_name, sorted(table_names)))}")
    if untouched:
        RateLoad.objects.update(revalued_time=None)
    else:
        load_rates()


@cache
def list_tables() -> set[str]:
    return set(connection.introspection.django_table_names(only_existing=True, include_views=False)) - KEPT_TABLES
