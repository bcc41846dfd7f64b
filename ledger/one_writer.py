"""One change at a time of a company's ledger.

A change touches several rows that others touch too: transactions, their partners, the day and month they fall in. Taken
in whatever order, such locks end in deadlocks sooner or later; taken behind one lock a company, they cannot.
"""

from uuid import UUID

from django.db import connection


def one_writer(company_id: UUID) -> None:
    """Waits until no other change of the company's ledger is under way; held to the end of the transaction."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", [f"ledger:{company_id}"])
