"""The first statement of a request: one call, by a plan that is kept, over a connection that may have died."""

from datetime import UTC
from types import SimpleNamespace

import pytest
from django.db import DataError, OperationalError, ProgrammingError, connection, transaction
from django.db.utils import InternalError
from psycopg.pq import ExecStatus

from companies.credentials import COMPANY_COLUMNS, COMPANY_FIELDS, company_of
from companies.models import Company
from companies.statements import first_row
from tests.wire import statements_sent


def end_the_connection():
    """As a restart of the server does."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        (own,) = cursor.fetchone()
    other = connection.copy()
    with other.cursor() as cursor:
        cursor.execute("SELECT pg_terminate_backend(%s)", [own])
    other.close()


@pytest.mark.django_db(transaction=True)
def test_a_dead_connection_is_made_anew_and_the_request_answered(api):
    assert api.get("/companies").status_code == 200
    end_the_connection()
    assert api.get("/companies").status_code == 200


@pytest.mark.django_db(transaction=True)
def test_within_a_transaction_nothing_is_sent_twice():
    with pytest.raises(Exception, match=r"terminat|closed"), transaction.atomic():  # noqa: PT012
        end_the_connection()
        first_row("SELECT 1", [])


@pytest.mark.django_db
def test_an_error_without_a_code_is_a_lost_connection(monkeypatch):
    """A server that dies in the middle: libpq says so before it calls the connection bad."""
    broken = SimpleNamespace(
        status=ExecStatus.FATAL_ERROR,
        error_field=lambda field: None,
        get_error_message=lambda: "server closed the connection unexpectedly",
    )
    monkeypatch.setattr("companies.statements.answered", lambda *_: broken)
    with pytest.raises(OperationalError, match="closed"), transaction.atomic():
        first_row("SELECT 1", [])


@pytest.mark.django_db
def test_a_row_and_none():
    assert first_row("SELECT $1::int + 1, NULL", ["41"]) == (42, None)
    assert first_row("SELECT 1 WHERE $1", ["false"]) is None


@pytest.mark.django_db
def test_the_company_is_the_one_that_the_orm_reads(acme):
    Company.objects.filter(id=acme.id).update(
        system_payment_provider={"customerId": "c"}, computed_committed_mrr_eur="12.30", data_start_date="2024-02-29"
    )
    row = first_row(f"SELECT {COMPANY_COLUMNS} FROM companies_company c WHERE c.id = $1", [str(acme.id)])
    found, expected = company_of(row), Company.objects.get(id=acme.id)
    for name in COMPANY_FIELDS:
        assert getattr(found, name) == getattr(expected, name), name
        assert type(getattr(found, name)) is type(getattr(expected, name)), name


@pytest.mark.django_db
def test_times_are_read_in_utc(acme):
    for time in (
        Company.objects.get(id=acme.id).created_time,
        first_row("SELECT $1::timestamptz", ["2026-03-29 02:30:00+02"])[0],
    ):
        assert time.tzinfo is UTC


@pytest.mark.django_db
@pytest.mark.parametrize("statement", ["SELECT $1::uuid", "SELECT id FROM companies_company WHERE id = $1"])
def test_errors_are_djangos(statement):
    with pytest.raises(DataError, match="invalid input syntax for type uuid"), transaction.atomic():
        first_row(statement, ["none"])
    with pytest.raises(ProgrammingError, match="does not exist"), transaction.atomic():
        first_row("SELECT * FROM nowhere WHERE $1", ["true"])


@pytest.mark.django_db
def test_a_text_is_never_cut_off_at_a_nul():
    with pytest.raises(DataError, match="NUL"):
        first_row("SELECT $1::text", ["a\0b"])


@pytest.mark.django_db
def test_a_failed_transaction_stays_failed():
    with pytest.raises(InternalError, match="aborted"), transaction.atomic():  # noqa: PT012
        with pytest.raises(ProgrammingError):
            first_row("SELECT * FROM nowhere", [])
        first_row("SELECT 1", [])


@pytest.mark.django_db(transaction=True)
def test_a_plan_is_kept_and_its_loss_is_no_failure():
    """A pooler may hand each statement to another connection, where the plan is not."""
    statement = "SELECT $1::int + 2"
    with statements_sent() as sent:
        assert [first_row(statement, [str(number)]) for number in range(3)] == [(2,), (3,), (4,)]
    assert len(sent) == 3
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM pg_prepared_statements WHERE statement = %s", [statement])
        assert cursor.fetchone() == (1,)
        cursor.execute("DEALLOCATE ALL")
    assert [first_row(statement, [str(number)]) for number in range(3)] == [(2,), (3,), (4,)]


@pytest.mark.django_db(transaction=True)
def test_a_change_of_the_tables_is_no_failure():
    with connection.cursor() as cursor:
        cursor.execute("CREATE TEMPORARY TABLE things (name text)")
        cursor.execute("INSERT INTO things VALUES ('1')")
        assert first_row("SELECT name FROM things", []) == ("1",)
        cursor.execute("ALTER TABLE things ALTER name TYPE int USING name::int")
        assert first_row("SELECT name FROM things", []) == (1,)
        cursor.execute("DROP TABLE things")
