"""The dated occurrences of one planned transaction."""

import datetime as dt
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from companies.errors import FieldErrors
from ledger.calc.money import format_amount
from ledger.calc.months import MONTHS_A_YEAR, add_months
from planning.calc.recurrence import Occurrence, expand
from planning.models import PlannedTransaction

MOST_YEARS = 10  # decisions of the API: windows of occurrences


@dataclass(frozen=True, slots=True)
class Expected:
    """One occurrence with its override applied; the amount as text, in the currency's decimals."""

    date: dt.date
    original_date: dt.date
    name: str
    account_id: UUID | None
    category_id: UUID | None
    amount_value: str
    amount_currency: str
    overridden: bool
    transaction_id: UUID | None


def occurrences_of(planned: PlannedTransaction, *, window_start: dt.date, window_end: dt.date) -> list[Expected]:
    """What takes place in the window, by the day it falls on; skipped ones are absent, settled ones are there.

    ``planned`` has its overrides. Raises FieldErrors for a window that is reversed or longer than ten years.
    """
    check_window(window_start, window_end)
    patches = {day: row.patch() for day, row in planned.overrides.items()}
    found = expand(planned.recurrence_rule(), patches, window_start=window_start, window_end=window_end)
    return [expected(planned, occurrence) for occurrence in found if not occurrence.skipped]


def next_of(planned: PlannedTransaction, *, today: dt.date) -> Expected | None:
    """The first occurrence from today on that takes place and is not settled, within ten years; looked for near first.

    ``planned`` has its overrides.
    """
    for months in (3, MONTHS_A_YEAR, MOST_YEARS * MONTHS_A_YEAR):
        found = occurrences_of(planned, window_start=today, window_end=add_months(today, months))
        if coming := next((each for each in found if each.transaction_id is None), None):
            return coming
    return None


def expected(planned: PlannedTransaction, occurrence: Occurrence) -> Expected:
    patch: Any = occurrence.patch
    return Expected(
        date=occurrence.date,
        original_date=occurrence.original_date,
        name=patch.get("name", planned.name),
        account_id=patch.get("account_id", planned.account_id),
        category_id=patch.get("category_id", planned.category_id),
        amount_value=format_amount(patch.get("amount_value", planned.amount_value), planned.amount_currency),
        amount_currency=planned.amount_currency,
        overridden=occurrence.overridden,
        transaction_id=patch.get("transaction_id"),
    )


def check_window(start: dt.date, end: dt.date) -> None:
    """Raises FieldErrors where the window ends before it starts, or more than ten years after."""
    if end < start:
        raise FieldErrors([("#/endDate", "end_before_start", "The window ends before it starts.")])
    months = (end.year - start.year) * MONTHS_A_YEAR + end.month - start.month
    if (months, end.day) > (MOST_YEARS * MONTHS_A_YEAR, start.day):
        raise FieldErrors([("#/endDate", "window_too_long", f"At most {MOST_YEARS} years can be asked for at once.")])
