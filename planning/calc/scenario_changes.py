"""Changes of a scenario, applied to planned transactions.

The forecast of a scenario and its adoption use the same functions. A change alters what can be stored: the amount
and the end of a recurrence, and overrides of single occurrences. Settled occurrences never change.
"""

import datetime as dt
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Literal, NamedTuple
from uuid import UUID

from ledger.calc.months import MONTHS_PER_YEAR, add_months, get_last_day_of_month
from ledger.money.calc.money import MONEY_CONTEXT, round_half_up
from planning.calc.recurrence import (
    Occurrence,
    OccurrencePatch,
    Overrides,
    RecurrenceRule,
    is_occurrence,
    list_occurrence_days,
)

ChangeKind = Literal["add", "scale", "shift", "stop"]
CHANGE_KINDS: tuple[ChangeKind, ...] = ("add", "scale", "shift", "stop")
HORIZON_YEARS = 10
MONTHS_AHEAD = MONTHS_PER_YEAR * HORIZON_YEARS
MAX_SCALED_AMOUNT = Decimal(999_999_999_999_999)  # the largest storable amount without decimals

LONGEST_MONTH = dt.timedelta(days=31)
NO_PATCH: OccurrencePatch = {}


class DayWindow(NamedTuple):
    """Days whose occurrences are overridden one by one; both included."""

    start: dt.date
    end: dt.date

    def limit(self, start: dt.date | None, end: dt.date | None) -> "DayWindow":
        """Return the days that are also in [start, end]; None has no limit."""
        return DayWindow(
            self.start if start is None else max(start, self.start), self.end if end is None else min(end, self.end)
        )

    def widen(self, days: int) -> "DayWindow":
        """Return the window with so many days more at both ends, as far as there are days."""
        first, last = self.start.toordinal() - days, self.end.toordinal() + days
        return DayWindow(
            dt.date.fromordinal(max(first, dt.date.min.toordinal())),
            dt.date.fromordinal(min(last, dt.date.max.toordinal())),
        )


@dataclass(frozen=True, slots=True)
class Change:
    """A change with its target: one planned transaction, a counterparty, a category or a P&L line.

    `category_ids` are the categories whose occurrences it applies to, `category_id` or `pl_type` the target among plan
    items. `start` and `end` are original dates, both included; None has no limit. A change of single occurrences of an
    endless recurrence reaches to `horizon`, or ten years from the recurrence's start if that is later.
    """

    kind: ChangeKind
    planned_id: UUID | None = None
    counterparty_id: UUID | None = None
    category_ids: frozenset[UUID] = frozenset()
    category_id: UUID | None = None
    pl_type: str | None = None
    percent: Decimal = Decimal(0)
    days: int = 0
    start: dt.date | None = None
    end: dt.date | None = None
    horizon: dt.date = dt.date.max

    def includes(self, day: dt.date) -> bool:
        """Whether it applies to an original date."""
        return (self.start is None or day >= self.start) and (self.end is None or day <= self.end)

    @property
    def is_specific(self) -> bool:
        """Whether it names the planned transaction or the counterparty it applies to."""
        return self.planned_id is not None or self.counterparty_id is not None


@dataclass(frozen=True, slots=True)
class PlannedState:
    """What a change may alter of a planned transaction, and by what changes find it.

    `settled_days` are the original dates of settled occurrences, which never change. `expected_date` is that of an
    invoice, from which a shift counts.
    """

    id: UUID
    rule: RecurrenceRule
    amount: Decimal
    currency: str
    overrides: Overrides
    category_id: UUID | None = None
    counterparty_id: UUID | None = None
    tax: Decimal | None = None
    settled_days: frozenset[dt.date] = frozenset()
    expected_date: dt.date | None = None


def apply_change(state: PlannedState, change: Change, *, window: DayWindow) -> PlannedState:
    """Apply one change to a planned transaction.

    What a recurrence cannot say becomes overrides, of the occurrences whose original date is in `window`.
    """
    if change.kind == "scale":
        return scale_planned_state(state, change, window=window)
    if change.kind == "shift":
        return shift_planned_state(state, change, window=window)
    return stop_planned_state(state, change, window=window)


def is_change_target(change: Change, state: PlannedState, patch: OccurrencePatch = NO_PATCH) -> bool:
    """Return whether a change applies to an occurrence with a patch, whatever its date; without one, to all others."""
    if change.planned_id is not None:
        return change.planned_id == state.id
    if change.counterparty_id is not None:
        return change.counterparty_id == state.counterparty_id
    return patch.get("category_id", state.category_id) in change.category_ids


def scale_amount(amount: Decimal, *, percent: Decimal, currency: str) -> Decimal:
    """Add a percentage to an amount, rounded half up and limited to MAX_SCALED_AMOUNT.

    >>> scale_amount(Decimal("33.33"), percent=Decimal(10), currency="EUR")
    Decimal('36.66')
    """
    factor = MONEY_CONTEXT.add(1, MONEY_CONTEXT.divide(percent, Decimal(100)))
    scaled = round_half_up(MONEY_CONTEXT.multiply(amount, factor), currency)
    return max(min(scaled, MAX_SCALED_AMOUNT), -MAX_SCALED_AMOUNT)


def scale_planned_state(state: PlannedState, change: Change, *, window: DayWindow) -> PlannedState:
    """Add a percentage to the amount of each occurrence.

    A percentage without an end changes the amount of the recurrence; occurrences before it keep theirs as overrides.
    """

    def scale_one_amount(amount: Decimal) -> Decimal:
        return scale_amount(amount, percent=change.percent, currency=state.currency)

    has_base_target = is_change_target(change, state) and can_reach_rule(change, state.rule)
    last_day = find_last_rule_day(state.rule)
    has_no_end = change.end is None or (last_day is not None and last_day <= change.end)
    changes_rule = has_base_target and has_no_end and (change.start is None or change.start <= window.end)
    base_amount = scale_one_amount(state.amount) if changes_rule else state.amount
    overrides = dict(state.overrides)
    for day, patch in iter_occurring(state):
        overridden_amount = patch.get("amount_value")
        amount = state.amount if overridden_amount is None else overridden_amount
        if change.includes(day) and is_change_target(change, state, patch) and day not in state.settled_days:
            amount = scale_one_amount(amount)
        if "amount_value" in patch or amount != base_amount:
            overrides[day] = {**patch, "amount_value": amount}
    if changes_rule and change.start is not None and base_amount != state.amount:
        earlier_days = list_plain_days(state, window.limit(None, shift_day_within_calendar(change.start, -1)))
        overrides |= {day: {"amount_value": state.amount} for day in earlier_days}
    elif has_base_target and not changes_rule and (amount := scale_one_amount(state.amount)) != state.amount:
        days = list_plain_days(state, limit_to_reachable_days(window, change, state.rule))
        overrides |= {day: {"amount_value": amount} for day in days}
    tax = scale_one_amount(state.tax) if changes_rule and state.tax is not None else state.tax
    return replace(state, amount=base_amount, tax=tax, overrides=overrides)


def shift_planned_state(state: PlannedState, change: Change, *, window: DayWindow) -> PlannedState:
    """Move each occurrence by days, from the date it has."""
    if not is_change_target(change, state):
        return state
    overrides = dict(state.overrides)
    for day, patch in iter_occurring(state):
        if change.includes(day) and day not in state.settled_days:
            expected_day = patch.get("date") or state.expected_date or state.rule.get_expected_day(day)
            overrides[day] = {**patch, "date": shift_day_within_calendar(expected_day, change.days)}
    for day in list_plain_days(state, limit_to_reachable_days(window, change, state.rule)):
        expected_day = state.expected_date or state.rule.get_expected_day(day)
        overrides[day] = {"date": shift_day_within_calendar(expected_day, change.days)}
    return replace(state, overrides=overrides)


def stop_planned_state(state: PlannedState, change: Change, *, window: DayWindow) -> PlannedState:
    """End a recurrence before a day; later occurrences that stay are kept by skipping the others."""
    overrides = dict(state.overrides)
    has_base_target = is_change_target(change, state) and can_reach_rule(change, state.rule)
    stopped, remaining = list[dt.date](), list[dt.date]()
    for day, patch in iter_occurring(state):
        if change.includes(day):
            is_stopped = is_change_target(change, state, patch) and day not in state.settled_days
            (stopped if is_stopped else remaining).append(day)
    if not has_base_target:
        return replace(state, overrides=overrides | build_skipping_overrides(overrides, stopped))
    first_day = find_first_rule_day(state.rule)
    if state.rule.frequency is None or first_day is None:
        days = [] if first_day is None or first_day in remaining else [first_day]
        return replace(state, overrides=overrides | build_skipping_overrides(overrides, days))
    # An end before the first occurrence cannot be stored: the first one is skipped instead.
    end = max([first_day, shift_day_within_calendar(change.start or dt.date.min, -1), *remaining])
    plain_days = list_plain_days(state, window.limit(change.start, end))
    overrides |= build_skipping_overrides(overrides, [*plain_days, *(day for day in stopped if day <= end)])
    last_day = find_last_rule_day(state.rule)
    ends_earlier = last_day is not None and last_day <= end
    rule = state.rule if ends_earlier else replace(state.rule, end_date=end, count=None)
    return replace(state, rule=rule, overrides=overrides)


def limit_to_reachable_days(window: DayWindow, change: Change, rule: RecurrenceRule) -> DayWindow:
    """Return the days of a window whose occurrences a change alters one by one."""
    days = window.limit(change.start, change.end)
    return days if find_last_rule_day(rule) is not None else days.limit(None, get_horizon(change.horizon, rule.start))


def get_horizon(horizon: dt.date, start: dt.date) -> dt.date:
    """Return the horizon, or the day ten years after a start if that is later.

    >>> get_horizon(dt.date(2036, 1, 1), dt.date(2030, 2, 28))
    datetime.date(2040, 2, 28)
    """
    return dt.date.max if start.year > dt.MAXYEAR - HORIZON_YEARS else max(horizon, add_months(start, MONTHS_AHEAD))


def can_reach_rule(change: Change, rule: RecurrenceRule) -> bool:
    """Return whether a recurrence can have occurrences on the days of a change."""
    last_day = find_last_rule_day(rule)
    is_before = change.start is not None and last_day is not None and last_day < change.start
    return not is_before and (change.end is None or rule.start <= change.end)


def build_skipping_overrides(overrides: Overrides, days: Iterable[dt.date]) -> dict[dt.date, OccurrencePatch]:
    """Return the overrides of days with the occurrence skipped."""
    return {day: {**overrides.get(day, NO_PATCH), "skipped": True} for day in days}


def shift_day_within_calendar(day: dt.date, days: int) -> dt.date:
    """Return the day so many days later, as far as there are days."""
    number = min(max(day.toordinal() + days, dt.date.min.toordinal()), dt.date.max.toordinal())
    return dt.date.fromordinal(number)


def iter_occurring(state: PlannedState) -> Iterator[tuple[dt.date, OccurrencePatch]]:
    """Yield the overridden and the settled days on which the recurrence occurs, with their overrides."""
    for day in (*state.overrides, *sorted(state.settled_days - state.overrides.keys())):
        if is_occurrence(state.rule, day):
            yield day, state.overrides.get(day, NO_PATCH)


def list_plain_days(state: PlannedState, window: DayWindow) -> list[dt.date]:
    """Return the days of a window that the rule generates, and that are neither overridden nor settled."""
    days = list_occurrence_days(state.rule, window_start=window.start, window_end=window.end)
    return [day for day in days if day not in state.overrides and day not in state.settled_days]


def find_first_rule_day(rule: RecurrenceRule) -> dt.date | None:
    """Return the first day that a rule generates; None if it generates none."""
    end = min(rule.start.toordinal() + LONGEST_MONTH.days, dt.date.max.toordinal())
    days = list_occurrence_days(rule, window_start=rule.start, window_end=dt.date.fromordinal(end))
    return days[0] if days else None


def find_last_rule_day(rule: RecurrenceRule) -> dt.date | None:
    """Return a day after which a rule generates none; None if it has no end. With a count, it is the last day.

    >>> find_last_rule_day(RecurrenceRule(dt.date(2026, 1, 15), "month", count=3))
    datetime.date(2026, 3, 15)
    """
    if rule.frequency is None:
        return rule.start
    if rule.count is None:
        return rule.end_date
    steps = (rule.count - 1) * rule.interval
    if rule.frequency in ("day", "week"):
        number = rule.start.toordinal() + steps * (7 if rule.frequency == "week" else 1)
        return dt.date.fromordinal(number) if number <= dt.date.max.toordinal() else None
    months = steps * (MONTHS_PER_YEAR if rule.frequency == "year" else 1)
    year, month = divmod(rule.start.year * MONTHS_PER_YEAR + rule.start.month - 1 + months, MONTHS_PER_YEAR)
    if year > dt.MAXYEAR:
        return None
    first = dt.date(year, month + 1, 1)
    return list_occurrence_days(rule, window_start=first, window_end=get_last_day_of_month(first))[-1]


# ---------------------------------------------------------------------------------------------- contradictions


def find_contradicting_changes(
    changes: Sequence[tuple[int, Change]], states: Mapping[UUID, PlannedState]
) -> list[tuple[int, int]]:
    """Return the positions (stop, other) of changes that contradict each other on one occurrence.

    A stop contradicts another stop of the same target, and a percentage or a shift of a planned transaction or a
    counterparty that it stops. A percentage on a category or a P&L line applies to what is left.
    """
    stops = [(position, change) for position, change in changes if change.kind == "stop"]
    results = []
    for position, stop in stops:
        for other_position, other in changes:
            if other_position == position or (other.kind == "stop" and other_position < position):
                continue
            if not (has_same_target(stop, other) or (other.kind in ("scale", "shift") and other.is_specific)):
                continue
            if any(has_common_occurrence(stop, other, state) for state in states.values()):
                results.append((position, other_position))
    return results


def has_same_target(change: Change, other: Change) -> bool:
    targets = [(each.planned_id, each.counterparty_id, each.category_id, each.pl_type) for each in (change, other)]
    return other.kind != "add" and targets[0] == targets[1]


def has_common_occurrence(change: Change, other: Change, state: PlannedState) -> bool:
    """Return whether two changes apply to one open occurrence of a planned transaction."""
    days = DayWindow(state.rule.start, dt.date.max).limit(change.start, change.end).limit(other.start, other.end)
    days = days.limit(None, get_horizon(dt.date.min, days.start))
    if is_change_target(change, state) and is_change_target(other, state) and list_plain_days(state, days):
        return True
    return any(
        change.includes(day)
        and other.includes(day)
        and is_change_target(change, state, patch)
        and is_change_target(other, state, patch)
        and not Occurrence(day, day, patch).skipped
        and day not in state.settled_days
        for day, patch in iter_occurring(state)
    )
