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
from planning.calc.expected_dates import ExpectationBasis, compute_due_date
from planning.calc.recurrence import (
    OVERDUE_PERIOD,
    Occurrence,
    OccurrencePatch,
    expand_occurrences,
    has_lapsed,
)
from planning.calc.settlements import NOTHING, SettlementPart, SettlementState, get_settlement_state
from planning.models import PlannedTransaction, attach_overrides
from planning.planned_transactions.queries.expected_dates import attach_expected_dates
from planning.planned_transactions.queries.settled_totals import NOTHING_SETTLED, SettledAmounts, load_settled_amounts

MAX_WINDOW_YEARS = 10  # the API's limit
MAX_OCCURRENCES = 10_000  # occurrences of all rules together
OPEN_STATES = ("open", "partlyPaid", "overdue")
ZERO = Decimal(0)
T = TypeVar("T")
OCCURRENCE_ORDER = attrgetter("expected.date", "expected.name", "planned.id", "expected.original_date")


@dataclass(frozen=True, slots=True)
class PlannedOccurrence:
    """An occurrence with its override applied; amounts as text, in the currency's decimals.

    `settled_amount_value` is what transactions paid; of a planned total, also what is booked in its category.
    `open_amount_value` is what is still to come: 0 where it is paid, written off or skipped.
    """

    date: dt.date
    original_date: dt.date
    name: str
    account_id: UUID | None
    category_id: UUID | None
    amount_value: str
    amount_currency: str
    overridden: bool
    expected_date: dt.date
    basis: ExpectationBasis
    settled_amount_value: str
    written_off_amount_value: str
    open_amount_value: str
    settlements: tuple[SettlementPart, ...]
    state: SettlementState

    @property
    def is_open(self) -> bool:
        """Whether anything of it is still expected."""
        return self.state in OPEN_STATES

    @property
    def transaction_id(self) -> UUID | None:
        """The transaction that paid; None if none or several did."""
        ids = {part.transaction_id for part in self.settlements if part.transaction_id}
        return ids.pop() if len(ids) == 1 else None


def list_occurrences(
    planned: PlannedTransaction, *, window_start: dt.date, window_end: dt.date, today: dt.date
) -> list[PlannedOccurrence]:
    """Return the occurrences of a planned transaction in a window by date, without skipped ones.

    `planned` has its overrides attached.

    Raises:
        ValidationFailed: the window is reversed or longer than ten years.
        MissingRate: a currency has no exchange rate.
    """
    check_occurrence_window(window_start, window_end)
    attach_expected_dates([planned])
    settled = load_settled_amounts([planned], start=window_start, end=window_end, today=today)
    rule_occurrences = expand_planned_transaction(planned, window_start=window_start, window_end=window_end)
    return [
        build_planned_occurrence(planned, occurrence, settled, today=today)
        for occurrence in rule_occurrences
        if not occurrence.skipped
    ]


def expand_planned_transaction(
    planned: PlannedTransaction, *, window_start: dt.date, window_end: dt.date
) -> list[Occurrence]:
    """Expand a planned transaction with its overrides; skipped occurrences are included.

    An invoice takes place on its expected date, which is attached.
    """
    if planned.expected is not None:
        is_in_window = window_start <= planned.expected.date <= window_end
        return [build_invoice_occurrence(planned)] if is_in_window else []
    overrides = {day: row.to_patch() for day, row in planned.overrides.items()}
    return expand_occurrences(planned.recurrence_rule(), overrides, window_start=window_start, window_end=window_end)


def build_invoice_occurrence(planned: PlannedTransaction) -> Occurrence:
    """Build the occurrence of an invoice on its expected date, which is attached."""
    override = planned.overrides.get(planned.start_date)
    patch = override.to_patch() if override else OccurrencePatch()
    return Occurrence(planned.start_date, planned.expected.date if planned.expected else planned.start_date, patch)


@dataclass(frozen=True, slots=True)
class DueOccurrence:
    """An occurrence of a company's planned transaction, with its state."""

    planned: PlannedTransaction
    expected: PlannedOccurrence

    @property
    def state(self) -> SettlementState:
        return self.expected.state

    @property
    def is_matchable(self) -> bool:
        """Whether a single transaction could settle it."""
        return self.expected.is_open and not self.planned.is_total


def list_due_occurrences(
    company: Company, *, window_start: dt.date, window_end: dt.date, today: dt.date
) -> list[DueOccurrence]:
    """Return all occurrences of a company in [window_start, window_end] by date; lapsed ones are left out.

    Settled and skipped ones are included. Three statements, three more where there are planned totals.

    Raises:
        ValidationFailed: the window is reversed, longer than ten years, or has more than 10,000 occurrences.
        MissingRate: a currency has no exchange rate.
    """
    check_occurrence_window(window_start, window_end)
    rows = list_planned_with_expected_dates(company, window_start=window_start, window_end=window_end)
    return sort_due_occurrences(
        limit_occurrences(iter_due_occurrences(rows, start=window_start, end=window_end, today=today))
    )


def list_planned_with_expected_dates(
    company: Company, *, window_start: dt.date, window_end: dt.date
) -> list[PlannedTransaction]:
    """Return what can have an occurrence in a window, with overrides and the expected dates of invoices attached.

    Two statements, and one more where there are open invoices of counterparties.
    """
    rows = PlannedTransaction.objects.for_company(company.id).overlapping(company.id, window_start, window_end)
    planned_rows = attach_overrides(list(rows.with_counterparty()))
    attach_expected_dates(planned_rows)
    return planned_rows


def count_overdue_occurrences(*, company: Company, due_through: dt.date, today: dt.date) -> int:
    """Return how many occurrences that were due up to a day are overdue today."""
    window_end = min(due_through, today)
    window_start = min(today - OVERDUE_PERIOD, window_end)
    rows = list_planned_with_expected_dates(company, window_start=window_start, window_end=window_end)
    return sum(1 for _ in iter_overdue_occurrences(rows, due_through=due_through, today=today))


def iter_overdue_occurrences(
    rows: Sequence[PlannedTransaction],
    *,
    due_through: dt.date,
    today: dt.date,
    settled_amounts: SettledAmounts | None = None,
) -> Iterator[DueOccurrence]:
    """Yield the overdue occurrences that were due up to a day, in no order: open invoices of any age and expected date,
    and others that have not lapsed.

    Raises:
        MissingRate: a currency has no exchange rate.
    """
    end = min(due_through, today)
    start = min(today - OVERDUE_PERIOD, end)
    invoices = [planned for planned in rows if planned.is_invoice]
    others = [planned for planned in rows if not planned.is_invoice]
    for some, first, last in ((others, start, end), (invoices, dt.date.min, dt.date.max)):
        for due in iter_due_occurrences(some, start=first, end=last, today=today, settled_amounts=settled_amounts):
            if due.state == "overdue" and get_due_date(due.planned, due.expected.date) <= due_through:
                yield due


def iter_due_occurrences(
    rows: Sequence[PlannedTransaction],
    *,
    start: dt.date,
    end: dt.date,
    today: dt.date,
    with_old_invoices: bool = False,
    settled_amounts: SettledAmounts | None = None,
) -> Iterator[DueOccurrence]:
    """Yield the occurrences of planned transactions, which have overrides and expected dates attached; in no order.

    Args:
        with_old_invoices: yield open invoices of days before the window too; they never lapse.
        settled_amounts: what is settled of the rows, where the caller knows it.

    Raises:
        MissingRate: a currency has no exchange rate.
    """
    settled = load_settled_amounts(rows, start=start, end=end, today=today, settled_amounts=settled_amounts)
    for planned in rows:
        is_open_invoice = planned.is_invoice and not planned.is_closed
        window_start = dt.date.min if is_open_invoice and with_old_invoices else start
        for occurrence in expand_planned_transaction(planned, window_start=window_start, window_end=end):
            planned_occurrence = build_planned_occurrence(planned, occurrence, settled, today=today)
            has_expired = has_lapsed(occurrence.date, today=today, is_total=planned.is_total)
            if not (planned_occurrence.is_open and has_expired) or is_open_invoice:
                yield DueOccurrence(planned, planned_occurrence)


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
        planned: has its overrides and expected date attached.
        settled: booked amounts of planned totals in these years.
    """
    for months in (3, MONTHS_PER_YEAR, MAX_WINDOW_YEARS * MONTHS_PER_YEAR):
        rule_occurrences = expand_planned_transaction(planned, window_start=today, window_end=add_months(today, months))
        built = (
            build_planned_occurrence(planned, occurrence, settled, today=today)
            for occurrence in rule_occurrences
            if not occurrence.skipped
        )
        if next_occurrence := next((occurrence for occurrence in built if occurrence.is_open), None):
            return next_occurrence
    return None


def get_planned_occurrence(
    planned: PlannedTransaction, original_date: dt.date, *, today: dt.date, settled: SettledAmounts
) -> PlannedOccurrence:
    """Return the occurrence of a date that the recurrence generates; `planned` has its overrides attached."""
    override = planned.overrides.get(original_date)
    patch = override.to_patch() if override else OccurrencePatch()
    expected_day = patch.get("date") or planned.recurrence_rule().get_expected_day(original_date)
    occurrence = Occurrence(original_date, expected_day, patch)
    if planned.expected is not None:
        occurrence = build_invoice_occurrence(planned)
    return build_planned_occurrence(planned, occurrence, settled, today=today)


def build_planned_occurrence(
    planned: PlannedTransaction,
    occurrence: Occurrence,
    settled: SettledAmounts = NOTHING_SETTLED,
    *,
    today: dt.date,
) -> PlannedOccurrence:
    """Build an occurrence with its override and what is settled of it applied."""
    patch: Any = occurrence.patch
    amount, currency = patch.get("amount_value", planned.amount_value), planned.amount_currency
    settled_amount = settled.get((planned.id, occurrence.original_date), NOTHING)
    open_amount = ZERO if occurrence.skipped else amount - settled_amount.total
    return PlannedOccurrence(
        date=occurrence.date,
        original_date=occurrence.original_date,
        name=patch.get("name", planned.name),
        account_id=patch.get("account_id", planned.account_id),
        category_id=patch.get("category_id", planned.category_id),
        amount_value=format_amount(amount, currency),
        amount_currency=currency,
        overridden=occurrence.overridden,
        expected_date=occurrence.date,
        basis=planned.expected.basis if planned.expected else "person" if "date" in patch else "startDate",
        settled_amount_value=format_amount(settled_amount.paid, currency),
        written_off_amount_value=format_amount(settled_amount.written_off, currency),
        open_amount_value=format_amount(open_amount, currency),
        settlements=settled_amount.parts,
        state=get_settlement_state(
            amount,
            settled_amount,
            is_overdue=get_due_date(planned, occurrence.date) < today,
            is_skipped=occurrence.skipped,
        ),
    )


def get_due_date(planned: PlannedTransaction, occurrence_date: dt.date) -> dt.date:
    """Return the day after which an occurrence is overdue: of an invoice its due date, else its date."""
    return compute_due_date(planned.build_invoice_dates()) if planned.is_invoice else occurrence_date


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
