"""Delete only the rows that a committing test leaves behind.

Django would truncate every table, recreate content types and permissions, and reload 27 years of rates:
seconds for each test. Truncating a hundred empty tables takes a hundred times as long as deleting a few rows.
"""

from datetime import UTC, datetime
from functools import cache

from django.db import connection, transaction
from django.test import TransactionTestCase

from ledger.models import RateLoad
from ledger.money.rates import load_packaged_rates
from tests import cluster

KEPT_TABLES = {"django_migrations", "django_content_type", "auth_permission"}
RATE_TABLES = {"ledger_rate", "ledger_rateload"}
_LOADED_RATE_IDS: set[int] = set()  # the rate loads that every test starts with


def install_cleanup() -> None:
    """Load the packaged rates and replace Django's teardown of transactional tests."""
    load_rates()
    TransactionTestCase._fixture_teardown = empty_tables


def load_rates() -> None:
    load_packaged_rates(now=datetime.now(tz=UTC))
    _LOADED_RATE_IDS.clear()
    _LOADED_RATE_IDS.update(RateLoad.objects.values_list("id", flat=True))


@transaction.atomic
def empty_tables(_: TransactionTestCase | None = None) -> None:
    # Rates only change with a rate load.
    untouched = set(RateLoad.objects.values_list("id", flat=True)) == _LOADED_RATE_IDS
    tables = sorted(list_tables() - (RATE_TABLES if untouched else set()))
    with connection.cursor() as cursor:
        if is_superuser():  # disables foreign keys and the triggers of append-only tables
            cursor.execute("SET LOCAL session_replication_role = replica")
            cursor.execute(
                " UNION ALL ".join(f"SELECT '{table}' WHERE EXISTS (SELECT FROM {table})" for table in tables)
            )
            filled = [table for (table,) in cursor.fetchall()]
            cursor.execute("; ".join(f"DELETE FROM {table}" for table in filled) or "SELECT")
            cursor.execute("SET LOCAL session_replication_role = origin")
        else:
            cursor.execute(f"TRUNCATE {', '.join(tables)}")
    if untouched:
        RateLoad.objects.exclude(revalued_time=None).update(revalued_time=None)
    else:
        load_rates()


@cache
def list_tables() -> set[str]:
    return set(connection.introspection.django_table_names(only_existing=True, include_views=False)) - KEPT_TABLES


@cache
def is_superuser() -> bool:
    with connection.cursor() as cursor:
        cursor.execute("SELECT usesuper FROM pg_user WHERE usename = current_user")
        return bool(cursor.fetchone()[0]) and not cluster.TESTS_RUN_ON_CLUSTER
