"""One change at a time of a company's ledger.

A change touches several rows that others touch too: transactions, their partners, the day and month they fall in. Taken
in whatever order, such locks end in deadlocks sooner or later; taken behind one lock a company, they cannot.
"""

from django.db import connection

from companies.models import Company


def one_writer(company: Company) -> None:
    """Waits until no other change of the company's ledger is under way; held to the end of the transaction.

    What results follow from may have changed meanwhile: it is read anew, and stays until then too.
    """
    with connection.cursor() as cursor:  # two statements, for the second one must see what the first waited for
        cursor.execute(
            "SELECT pg_advisory_xact_lock(hashtextextended(%(turn)s, 0)); "
            "SELECT base_currency, pl_recognize_revenue_on_invoice FROM companies_company WHERE id = %(company)s "
            "FOR KEY SHARE",
            {"turn": f"ledger:{company.id}", "company": company.id},
        )
        cursor.nextset()
        company.base_currency, company.pl_recognize_revenue_on_invoice = cursor.fetchone()
