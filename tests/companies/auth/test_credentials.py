"""Who calls is found out by one statement without the ORM, over a connection that may have died."""

import pytest
from django.db import close_old_connections, connection

from companies.auth.authentication import COMPANY_COLUMNS, COMPANY_FIELDS, build_company_from_row, fetch_first_row
from companies.models import Company
from tests.sql_trace import record_statements


def close_connection():
    """As a restart of the server does."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        (own,) = cursor.fetchone()
    other = connection.copy()
    with other.cursor() as cursor:
        cursor.execute("SELECT pg_terminate_backend(%s, 60000)", [own])  # waits until it is gone
        assert cursor.fetchone() == (True,)
    other.close()


@pytest.mark.django_db(transaction=True)
def test_request_reconnects_after_lost_database_connection(api):
    assert api.get("/companies").status_code == 200
    close_connection()
    close_old_connections()  # as every request begins, but for the test client's
    assert api.get("/companies").status_code == 200


@pytest.mark.django_db(transaction=True)
def test_usable_database_connection_is_reused_without_check_query(api):
    api.get("/companies")
    close_old_connections()
    with record_statements() as sent:
        assert api.get("/companies").status_code == 200
    assert len(sent) == 1


@pytest.mark.django_db(transaction=True)
def test_connection_with_pending_notification_is_checked_and_reused(api):
    """As where its settings are read again: that is no farewell."""
    api.get("/companies")
    remaining = connection.connection
    with connection.cursor() as cursor:
        cursor.execute("LISTEN anything")
    other = connection.copy()
    with other.cursor() as cursor:
        cursor.execute("NOTIFY anything")
    other.close()
    close_old_connections()
    assert connection.is_usable()
    assert api.get("/companies").status_code == 200
    assert connection.connection is remaining
    with connection.cursor() as cursor:
        cursor.execute("UNLISTEN *")


@pytest.mark.django_db
def test_company_from_raw_row_equals_company_from_orm(acme):
    Company.objects.filter(id=acme.id).update(
        system_payment_provider={"customerId": "c"}, computed_committed_mrr_eur="12.30", data_start_date="2024-02-29"
    )
    row = fetch_first_row(f"SELECT {COMPANY_COLUMNS} FROM companies_company c WHERE c.id = %s", [acme.id])
    result, expected = build_company_from_row(row), Company.objects.get(id=acme.id)
    for name in COMPANY_FIELDS:
        assert getattr(result, name) == getattr(expected, name), name
        assert type(getattr(result, name)) is type(getattr(expected, name)), name
