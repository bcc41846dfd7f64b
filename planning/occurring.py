"""Dated occurrences: of one planned transaction, and of all that a company expects."""

import datetime as dt
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from operator import attrgetter
from typing import Any, TypeVar
from uuid import UUID

from companies.errors import FieldErrors
from companies.models import Company
from ledger.calc.money import format_amount
from ledger.calc.months import MONTHS_A_YEAR, add_months
from planning.calc.recurrence import Occurrence, Patch, State, expand, get_state
from planning.models import PlannedTransaction, with_overrides
from planning.totals import NOTHING_SETTLED, SettledAmounts, find_settled_amounts_of

MOST_YEARS = 10  # decisions of the API: windows of occurrences
MOST_AT_ONCE = 10_000  # occurrences of all rules together
ZERO = Decimal(0)
T = TypeVar("T")
BY_DATE = attrgetter("expected.date", "expected.name", "planned.id", "expected.original_date")


@dataclass(frozen=True, slots=True)
class Expected:
    """One occurrence with its override applied; amounts as text, in the currency's decimals.

    ``open_amount_value`` is what is still to come: nothing of what is settled or skipped, and of a planned total what
    is not booked yet.
    """

    date: dt.date
    original_date: dt.date
    name: str
    account_id: UUID | None
    category_id: UUID | None
    amount_value: str
    amount_currency: str
    overridden: bool
    transaction_id: UUID | None
    open_amount_value: str

    @property
    def has_open_amount(self) -> bool:
        return bool(Decimal(self.open_amount_value))


def list_occurrences(planned: PlannedTransaction, *, window_start: dt.date, window_end: dt.date) -> list[Expected]:
    """Return what takes place in the window, by the day it falls on; skipped ones are absent, settled ones are there.

    `planned` has its overrides.

    Raises:
        FieldErrors: the window is reversed or longer than ten years.
        MissingRate: a currency has no exchange rate.
    """
    check_window(window_start, window_end)
    settled = find_settled_amounts_of([planned], start=window_start, end=window_end)
    return occurrences_of(planned, window_start=window_start, window_end=window_end, settled=settled)


def occurrences_of(
    planned: PlannedTransaction,
    *,
    window_start: dt.date,
    window_end: dt.date,
    settled: SettledAmounts = NOTHING_SETTLED,
) -> list[Expected]:
    """The same with what is known to be `settled` of planned totals."""
    found = expanded(planned, window_start=window_start, window_end=window_end)
    return [expected(planned, occurrence, settled) for occurrence in found if not occurrence.skipped]


def expanded(planned: PlannedTransaction, *, window_start: dt.date, window_end: dt.date) -> list[Occurrence]:
    patches = {day: row.patch() for day, row in planned.overrides.items()}
    return expand(planned.recurrence_rule(), patches, window_start=window_start, window_end=window_end)


@dataclass(frozen=True, slots=True)
class Due:
    """An occurrence of one of a company's rules, and what became of it."""

    planned: PlannedTransaction
    expected: Expected
    state: State

    @property
    def is_open(self) -> bool:
        """Whether it is expected still."""
        return self.state in ("due", "overdue")

    @property
    def is_matchable(self) -> bool:
        """Whether one transaction could settle it."""
        return self.is_open and not self.planned.is_total


def due_in(company: Company, *, window_start: dt.date, window_end: dt.date, today: dt.date) -> list[Due]:
    """All occurrences of a company that fall into the window, by date: what is skipped too, but what lapsed is absent.

    Two statements, and three more where there are planned totals.

    Raises:
        FieldErrors: the window is reversed, longer than ten years, or holds more than 10,000 occurrences.
        MissingRate: a currency has no exchange rate.
    """
    check_window(window_start, window_end)
    rows = PlannedTransaction.objects.of(company.id).touching(company.id, window_start, window_end)
    return by_date(at_most(due_of(with_overrides(list(rows)), start=window_start, end=window_end, today=today)))


def due_of(rows: Sequence[PlannedTransaction], *, start: dt.date, end: dt.date, today: dt.date) -> Iterator[Due]:
    """The same of some rules, which have their overrides; in no order. Raises MissingRate."""
    settled = find_settled_amounts_of(rows, start=start, end=end)
    for planned in rows:
        for each in expanded(planned, window_start=start, window_end=end):
            found = expected(planned, each, settled)
            is_settled = planned.is_total and not found.has_open_amount
            if state := get_state(each, today=today, is_settled=is_settled, is_total=planned.is_total):
                yield Due(planned, found, state)


def by_date(found: Iterable[Due]) -> list[Due]:
    return sorted(found, key=BY_DATE)


def at_most(found: Iterable[T]) -> Iterator[T]:
    """As they come. Raises FieldErrors where there are too many for one answer."""
    for number, each in enumerate(found):
        if number == MOST_AT_ONCE:
            told = f"More than {MOST_AT_ONCE:,} occurrences fall into the window; ask for a shorter one."
            raise FieldErrors([("#/endDate", "window_too_long", told)])
        yield each


def next_of(
    planned: PlannedTransaction, *, today: dt.date, settled: SettledAmounts = NOTHING_SETTLED
) -> Expected | None:
    """Return the first occurrence from today on that takes place and is not settled, within ten years.

    `planned` has its overrides; `settled` is what is booked of planned totals in these years.
    """
    for months in (3, MONTHS_A_YEAR, MOST_YEARS * MONTHS_A_YEAR):
        found = expanded(planned, window_start=today, window_end=add_months(today, months))
        built = (expected(planned, occurrence, settled) for occurrence in found if not occurrence.skipped)
        if coming := next((occurrence for occurrence in built if is_coming(planned, occurrence)), None):
            return coming
    return None


def is_coming(planned: PlannedTransaction, occurrence: Expected) -> bool:
    """Whether nothing has settled the occurrence, or a part of a planned total is open."""
    return occurrence.transaction_id is None and (occurrence.has_open_amount or not planned.is_total)


def occurrence_of(planned: PlannedTransaction, original_date: dt.date) -> Expected:
    """The occurrence of a date that the rule names; ``planned`` has its overrides."""
    stored = planned.overrides.get(original_date)
    patch = stored.patch() if stored else Patch()
    return expected(planned, Occurrence(original_date, patch.get("date") or original_date, patch))


def expected(
    planned: PlannedTransaction, occurrence: Occurrence, settled: SettledAmounts = NOTHING_SETTLED
) -> Expected:
    """The occurrence with its override; `settled` is what is booked of planned totals."""
    patch: Any = occurrence.patch
    amount = patch.get("amount_value", planned.amount_value)
    is_open = not occurrence.skipped and occurrence.transaction_id is None
    open_amount = amount - settled.get((planned.id, occurrence.original_date), ZERO) if is_open else ZERO
    return Expected(
        date=occurrence.date,
        original_date=occurrence.original_date,
        name=patch.get("name", planned.name),
        account_id=patch.get("account_id", planned.account_id),
        category_id=patch.get("category_id", planned.category_id),
        amount_value=format_amount(amount, planned.amount_currency),
        amount_currency=planned.amount_currency,
        overridden=occurrence.overridden,
        transaction_id=patch.get("transaction_id"),
        open_amount_value=format_amount(open_amount, planned.amount_currency),
    )


def check_window(start: dt.date, end: dt.date) -> None:
    """Raises FieldErrors where the window ends before it starts, or more than ten years after."""
    if end < start:
        raise FieldErrors([("#/endDate", "end_before_start", "The window ends before it starts.")])
    months = (end.year - start.year) * MONTHS_A_YEAR + end.month - start.month
    if (months, end.day) > (MOST_YEARS * MONTHS_A_YEAR, start.day):
        raise FieldErrors([("#/endDate", "window_too_long", f"At most {MOST_YEARS} years can be asked for at once.")])
