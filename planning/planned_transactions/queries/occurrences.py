"""Dated occurrences of one planned transaction, and of all of a company."""

import datetime as dt
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from operator import attrgetter
from typing import Any, TypeVar
from uuid import UUID

from companies.errors import ValidationFailed
from companies.models import Company
from ledger.calc.months import MONTHS_PER_YEAR, add_months
from ledger.money.calc.money import format_amount
from planning.calc.recurrence import (
    OVERDUE_PERIOD,
    Occurrence,
    OccurrencePatch,
    OccurrenceState,
    expand_occurrences,
    get_state,
)
from planning.models import PlannedTransaction, attach_overrides
from planning.planned_transactions.queries.settled_totals import NOTHING_SETTLED, SettledAmounts, load_settled_amounts

MAX_WINDOW_YEARS = 10  # the API's limit
MAX_OCCURRENCES = 10_000  # occurrences of all rules together
ZERO = Decimal(0)
T = TypeVar("T")
OCCURRENCE_ORDER = attrgetter("expected.date", "expected.name", "planned.id", "expected.original_date")


@dataclass(frozen=True, slots=True)
class PlannedOccurrence:
    """An occurrence with its override applied; amounts as text, in the currency's decimals.

    `open_amount_value` is what is still to come: 0 where it is settled or skipped, and the part not booked yet
    of a planned total.
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


def list_occurrences(
    planned: PlannedTransaction, *, window_start: dt.date, window_end: dt.date
) -> list[PlannedOccurrence]:
    """Return the occurrences of a planned transaction in a window by date, without skipped ones.

    `planned` has its overrides attached.

    Raises:
        ValidationFailed: the window is reversed or longer than ten years.
        MissingRate: a currency has no exchange rate.
    """
    check_occurrence_window(window_start, window_end)
    settled = load_settled_amounts([planned], start=window_start, end=window_end)
    return build_planned_occurrences(planned, window_start=window_start, window_end=window_end, settled=settled)


def build_planned_occurrences(
    planned: PlannedTransaction,
    *,
    window_start: dt.date,
    window_end: dt.date,
    settled: SettledAmounts = NOTHING_SETTLED,
) -> list[PlannedOccurrence]:
    """Build the occurrences in [window_start, window_end] from known settled amounts, without skipped ones."""
    rule_occurrences = expand_planned_transaction(planned, window_start=window_start, window_end=window_end)
    return [
        build_planned_occurrence(planned, occurrence, settled)
        for occurrence in rule_occurrences
        if not occurrence.skipped
    ]


def expand_planned_transaction(
    planned: PlannedTransaction, *, window_start: dt.date, window_end: dt.date
) -> list[Occurrence]:
    """Expand a planned transaction with its overrides; skipped occurrences are included."""
    overrides = {day: row.to_patch() for day, row in planned.overrides.items()}
    return expand_occurrences(planned.recurrence_rule(), overrides, window_start=window_start, window_end=window_end)


@dataclass(frozen=True, slots=True)
class DueOccurrence:
    """An occurrence of a company's planned transaction, with its state."""

    planned: PlannedTransaction
    expected: PlannedOccurrence
    state: OccurrenceState

    @property
    def is_open(self) -> bool:
        """Whether it is still expected."""
        return self.state in ("due", "overdue")

    @property
    def is_matchable(self) -> bool:
        """Whether a single transaction could settle it."""
        return self.is_open and not self.planned.is_total


def list_due_occurrences(
    company: Company, *, window_start: dt.date, window_end: dt.date, today: dt.date
) -> list[DueOccurrence]:
    """Return all occurrences of a company in [window_start, window_end] by date; lapsed ones are left out.

    Settled and skipped ones are included. Two statements, three more where there are planned totals.

    Raises:
        ValidationFailed: the window is reversed, longer than ten years, or has more than 10,000 occurrences.
        MissingRate: a currency has no exchange rate.
    """
    check_occurrence_window(window_start, window_end)
    rows = PlannedTransaction.objects.for_company(company.id).overlapping(company.id, window_start, window_end)
    return sort_due_occurrences(
        limit_occurrences(
            iter_due_occurrences(attach_overrides(list(rows)), start=window_start, end=window_end, today=today)
        )
    )


def count_overdue_occurrences(*, company: Company, start: dt.date, end: dt.date, today: dt.date) -> int:
    """Return how many occurrences that were due in [start, end] are overdue today; older ones have lapsed."""
    start, end = max(start, today - OVERDUE_PERIOD), min(end, today)
    if end < start:
        return 0
    due_occurrences = list_due_occurrences(company, window_start=start, window_end=end, today=today)
    return sum(occurrence.state == "overdue" for occurrence in due_occurrences)


def iter_due_occurrences(
    rows: Sequence[PlannedTransaction], *, start: dt.date, end: dt.date, today: dt.date
) -> Iterator[DueOccurrence]:
    """Yield the occurrences of planned transactions, which have their overrides attached; in no order.

    Raises:
        MissingRate: a currency has no exchange rate.
    """
    settled = load_settled_amounts(rows, start=start, end=end)
    for planned in rows:
        for occurrence in expand_planned_transaction(planned, window_start=start, window_end=end):
            planned_occurrence = build_planned_occurrence(planned, occurrence, settled)
            is_settled = planned.is_total and not planned_occurrence.has_open_amount
            if state := get_state(occurrence, today=today, is_settled=is_settled, is_total=planned.is_total):
                yield DueOccurrence(planned, planned_occurrence, state)


def sort_due_occurrences(dues: Iterable[DueOccurrence]) -> list[DueOccurrence]:
    """Sort occurrences by date, name and ids."""
    return sorted(dues, key=OCCURRENCE_ORDER)


def limit_occurrences(occurrences: Iterable[T]) -> Iterator[T]:
    """Yield occurrences up to the limit of one response.

    Raises:
        ValidationFailed: there are more than MAX_OCCURRENCES.
    """
    for number, occurrence in enumerate(occurrences):
        if number == MAX_OCCURRENCES:
            message = f"The window has more than {MAX_OCCURRENCES:,} occurrences. Request a shorter one."
            raise ValidationFailed([("#/endDate", "window_too_long", message)])
        yield occurrence


def find_next_occurrence(
    planned: PlannedTransaction, *, today: dt.date, settled: SettledAmounts = NOTHING_SETTLED
) -> PlannedOccurrence | None:
    """Return the first open occurrence from today on, within ten years; None without one.

    Args:
        planned: has its overrides attached.
        settled: booked amounts of planned totals in these years.
    """
    for months in (3, MONTHS_PER_YEAR, MAX_WINDOW_YEARS * MONTHS_PER_YEAR):
        rule_occurrences = expand_planned_transaction(planned, window_start=today, window_end=add_months(today, months))
        built = (
            build_planned_occurrence(planned, occurrence, settled)
            for occurrence in rule_occurrences
            if not occurrence.skipped
        )
        if next_occurrence := next((occurrence for occurrence in built if is_upcoming(planned, occurrence)), None):
            return next_occurrence
    return None


def is_upcoming(planned: PlannedTransaction, occurrence: PlannedOccurrence) -> bool:
    """Return whether an occurrence is not settled; for a planned total, whether a part of it is open."""
    return occurrence.transaction_id is None and (occurrence.has_open_amount or not planned.is_total)


def get_planned_occurrence(planned: PlannedTransaction, original_date: dt.date) -> PlannedOccurrence:
    """Return the occurrence of a date that the recurrence generates; `planned` has its overrides attached."""
    override = planned.overrides.get(original_date)
    patch = override.to_patch() if override else OccurrencePatch()
    return build_planned_occurrence(planned, Occurrence(original_date, patch.get("date") or original_date, patch))


def build_planned_occurrence(
    planned: PlannedTransaction, occurrence: Occurrence, settled: SettledAmounts = NOTHING_SETTLED
) -> PlannedOccurrence:
    """Build an occurrence with its override applied; `settled` is what is booked of planned totals."""
    patch: Any = occurrence.patch
    amount = patch.get("amount_value", planned.amount_value)
    is_open = not occurrence.skipped and occurrence.transaction_id is None
    open_amount = amount - settled.get((planned.id, occurrence.original_date), ZERO) if is_open else ZERO
    return PlannedOccurrence(
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


def check_occurrence_window(start: dt.date, end: dt.date) -> None:
    """Check the window of occurrences.

    Raises:
        ValidationFailed: it ends before it starts or is longer than ten years.
    """
    if end < start:
        raise ValidationFailed([("#/endDate", "end_before_start", "endDate must not be before startDate.")])
    months = (end.year - start.year) * MONTHS_PER_YEAR + end.month - start.month
    if (months, end.day) > (MAX_WINDOW_YEARS * MONTHS_PER_YEAR, start.day):
        raise ValidationFailed(
            [("#/endDate", "window_too_long", f"The window must not be longer than {MAX_WINDOW_YEARS} years.")]
        )
