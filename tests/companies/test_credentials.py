"""The first statement of a request finds out whether the database's connection still lives."""

import pytest
from django.db import connection, transaction

from companies.credentials import first_row


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
    end_the_connection()
    assert api.get("/companies").status_code == 200


@pytest.mark.django_db(transaction=True)
def test_within_a_transaction_nothing_is_sent_twice():
    with pytest.raises(Exception, match=r"terminat|closed"), transaction.atomic():  # noqa: PT012
        end_the_connection()
        first_row("SELECT 1", [])
