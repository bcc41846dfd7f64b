"""What moved on the accounts of a company day by day, read once for all that is drawn of it."""

from datetime import date
from decimal import Decimal

from django.db import connection

from companies.models import Company

Moves = list[tuple[str, date, str, Decimal, Decimal | None, Decimal | None]]
"""(account, day, currency, amount, in, out) in that currency: ``amount`` is all that was booked, of which ``in`` and
``out``, both > 0 or None, are flows. In no order."""

# Sums of the database over two days' rows each would cost more than the rows.
_MOVES = """
    SELECT account_id::text, date, currency, amount, nullif(inflow, 0), nullif(outflow, 0)
      FROM ledger_daymovement
     WHERE company_id = %(company)s AND date BETWEEN %(start)s AND %(end)s
"""


def moves(*, company: Company, start: date, end: date) -> Moves:
    """Of the days from ``start`` to ``end``; a row an account, currency and day on which something was booked."""
    with connection.cursor() as cursor:
        cursor.execute(_MOVES, {"company": company.id, "start": start, "end": end})
        return cursor.fetchall()
