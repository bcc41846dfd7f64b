"""Daily movements of a company's accounts, read once for all charts."""

from datetime import date
from decimal import Decimal

from django.db.models import DecimalField, TextField, Value
from django.db.models.functions import Cast, NullIf

from companies.models import Company
from ledger.models import DayMovement

ZERO = Value(0, DecimalField())

DailyMovements = list[tuple[str, date, str, Decimal, Decimal | None, Decimal | None]]
"""(account, day, currency, amount, in, out) in that currency: ``amount`` is all that was booked, of which ``in`` and
``out``, both > 0 or None, are flows. In no order."""


def list_daily_movements(*, company: Company, start: date, end: date) -> DailyMovements:
    """List movements from `start` to `end`: a row for each account, currency and day with bookings."""
    # Summing in the database would cost more than reading the rows.
    movements = DayMovement.objects.for_company(company.id).filter(date__range=(start, end))
    return list(
        movements.values_list(
            Cast("account_id", TextField()),
            "date",
            "currency",
            "amount",
            NullIf("inflow", ZERO),
            NullIf("outflow", ZERO),
        )
    )
