"""Daily movements of a company's accounts, read once for all charts."""

from datetime import date
from decimal import Decimal

from django.db import connection

from companies.models import Company

DailyMovements = list[tuple[str, date, str, Decimal, Decimal | None, Decimal | None]]
"""(account, day, currency, amount, in, out) in that currency: ``amount`` is all that was booked, of which ``in`` and
``out``, both > 0 or None, are flows. In no order."""

# Summing in the database would cost more than reading the rows.
_MOVES = """
    SELECT account_id::text, date, currency, amount, nullif(inflow, 0), nullif(outflow, 0)
      FROM ledger_daymovement
     WHERE company_id = %(company)s AND date BETWEEN %(start)s AND %(end)s
"""


def list_daily_movements(*, company: Company, start: date, end: date) -> DailyMovements:
    """List movements from `start` to `end`: a row for each account, currency and day with bookings."""
    with connection.cursor() as cursor:
        cursor.execute(_MOVES, {"company": company.id, "start": start, "end": end})
        return cursor.fetchall()
