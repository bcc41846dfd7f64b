"""Changes of a scenario, applied to plan items.

A plan item posts on the first day of a month. What an item cannot say becomes items of the difference beside it.
"""

import datetime as dt
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from uuid import UUID

from ledger.calc.months import add_months, count_months_between, get_first_day_of_month
from ledger.money.calc.money import MONEY_CONTEXT, round_half_up
from planning.calc.plan_postings import PlanAmount, PlanItemSchedule, compute_plan_postings
from planning.calc.scenario_changes import Change, get_horizon, scale_amount


@dataclass(frozen=True, slots=True)
class PlanItemState:
    """A plan item; `id` is None for one that is not stored yet.

    `origin` is the item whose amounts a difference changes, as long as the changes of one scenario apply.
    """

    id: UUID | None
    pl_type: str
    category_id: UUID
    currency: str
    month: dt.date
    frequency: int
    duration: int | None
    amount: PlanAmount
    origin: UUID | None = None

    @property
    def schedule(self) -> PlanItemSchedule:
        return PlanItemSchedule(self.month, self.amount, self.frequency, self.duration)

    @property
    def last_month(self) -> dt.date | None:
        """The last month in which it may post; None without an end."""
        if self.frequency == 0:
            return self.month
        months_left = count_months_between(self.month, dt.date.max)
        if self.duration is None or self.duration > months_left:
            return None
        return add_months(self.month, self.duration - 1)


def apply_change_to_items(items: Iterable[PlanItemState], change: Change, *, through: dt.date) -> list[PlanItemState]:
    """Apply one change to plan items; items that post nothing any more are left out.

    Args:
        through: the last month whose postings are changed one by one, where an amount grows.
    """
    groups: dict[UUID | None, list[PlanItemState]] = {}  # each item with its differences
    for item in items:
        groups.setdefault(item.origin or item.id, []).append(item)
    changed_items: list[PlanItemState] = []
    for group in groups.values():
        if not is_item_target(change, group[0]):
            changed_items += group
        elif change.kind == "stop":
            changed_items += [stopped for item in group for stopped in end_plan_item(item, change)]
        elif change.kind == "scale":
            changed_items += scale_items(group, change, through=through)
        else:
            changed_items += group
    return changed_items


def is_item_target(change: Change, item: PlanItemState) -> bool:
    """Return whether a change applies to an item; those of planned transactions and counterparties do not."""
    if change.category_id is not None:
        return change.category_id == item.category_id
    return change.pl_type is not None and change.pl_type == item.pl_type


def end_plan_item(item: PlanItemState, change: Change) -> Iterator[PlanItemState]:
    """Yield the item with its postings before a day."""
    months = count_months_between(item.month, round_up_to_month(change.start or dt.date.min))
    if months <= 0:
        return
    ends_earlier = item.frequency == 0 or (item.duration is not None and item.duration <= months)
    yield item if ends_earlier else replace(item, duration=months)


def scale_items(group: Sequence[PlanItemState], change: Change, *, through: dt.date) -> Iterator[PlanItemState]:
    """Yield an item and its differences with a percentage added to some of their postings.

    What an item and its difference post in a month is one amount, which is rounded half up. An item that posts once is
    either changed as a whole or not at all.
    """
    item, *differences = group
    is_fixed = item.amount.type == "fixed" or item.frequency == 0
    if not differences and (scaled_item := scale_whole_item(item, change, is_fixed=is_fixed)):
        yield scaled_item
        return
    yield item
    if is_fixed and item.frequency:
        yield from scale_fixed_differences(item, differences, change)
    elif not is_fixed:
        yield from scale_monthly_differences(item, differences, change, through=through)


def scale_whole_item(item: PlanItemState, change: Change, *, is_fixed: bool) -> PlanItemState | None:
    """Return the item with a percentage added to its amount; None where that does not change each posting alike."""
    scaled = scale_amount(item.amount.amount, percent=change.percent, currency=item.currency)
    last_month = item.last_month
    is_whole = (change.start is None or change.start <= item.month) and (
        change.end is None or (last_month is not None and last_month <= change.end)
    )
    factor = MONEY_CONTEXT.add(1, MONEY_CONTEXT.divide(change.percent, 100))
    if not is_whole or not (is_fixed or MONEY_CONTEXT.multiply(item.amount.amount, factor) == scaled):
        return None
    return replace(item, amount=PlanAmount(item.amount.type, scaled, item.amount.relative_change))


def scale_monthly_differences(
    item: PlanItemState, differences: Sequence[PlanItemState], change: Change, *, through: dt.date
) -> Iterator[PlanItemState]:
    """Yield the differences of an item whose amount grows: one for each month."""
    amounts = {difference.month: difference.amount.amount for difference in differences}
    first = item.month if change.start is None else max(item.month, round_up_to_month(change.start))
    last = min(through, get_first_day_of_month(change.end or get_horizon(change.horizon, item.month)))
    for month, exact in compute_plan_postings(item.schedule, window_start=first, window_end=last).items():
        planned = round_half_up(exact, item.currency)
        amount = planned + amounts[month] if month in amounts else exact
        amounts[month] = scale_amount(amount, percent=change.percent, currency=item.currency) - planned
    for month, amount in sorted(amounts.items()):
        if amount:
            yield build_difference_item(item, amount, month=month, frequency=0, duration=None)


def scale_fixed_differences(
    item: PlanItemState, differences: Sequence[PlanItemState], change: Change
) -> Iterator[PlanItemState]:
    """Yield the differences of an item with a fixed amount: one for each period of one amount."""
    amount = item.amount.amount
    starts = list_period_starts(item, differences, change)
    for start, next_start in zip(starts, [*starts[1:], None], strict=True):
        months = -(-count_months_between(item.month, start) // item.frequency) * item.frequency
        if months > count_months_between(item.month, dt.date.max):
            return
        month = add_months(item.month, months)
        durations = [] if item.duration is None else [item.duration - months]
        if next_start is not None:
            durations.append(count_months_between(month, next_start))
        duration = min(durations, default=None)
        if duration is not None and duration <= 0:
            continue
        difference = sum(
            (each.amount.amount for each in differences if has_posting_in_month(each, month)), start=Decimal(0)
        )
        if change.includes(month):
            scaled = scale_amount(amount + difference, percent=change.percent, currency=item.currency)
            difference = scaled - amount
        if difference:
            yield build_difference_item(item, difference, month=month, frequency=item.frequency, duration=duration)


def list_period_starts(item: PlanItemState, differences: Sequence[PlanItemState], change: Change) -> list[dt.date]:
    """Return the months from which an item and its differences post another amount after a change, in order."""
    starts = {item.month}
    if change.start is not None:
        starts.add(round_up_to_month(change.start))
    for last_day in (change.end, *(difference.last_month for difference in differences)):
        if last_day is not None and last_day < dt.date.max:
            starts.add(round_up_to_month(last_day + dt.timedelta(days=1)))
    starts.update(difference.month for difference in differences)
    return sorted(start for start in starts if start >= item.month)


def has_posting_in_month(item: PlanItemState, month: dt.date) -> bool:
    """Return whether an item posts in a month."""
    return bool(compute_plan_postings(item.schedule, window_start=month, window_end=month))


def build_difference_item(
    item: PlanItemState, amount: Decimal, *, month: dt.date, frequency: int, duration: int | None
) -> PlanItemState:
    """Return an item beside another one, with a fixed amount that is missing in its postings."""
    return replace(
        item,
        id=None,
        month=month,
        frequency=frequency,
        duration=duration,
        amount=PlanAmount("fixed", amount),
        origin=item.id,
    )


def round_up_to_month(day: dt.date) -> dt.date:
    """Return the first day of a month on or after a day.

    >>> round_up_to_month(dt.date(2026, 3, 15)), round_up_to_month(dt.date(2026, 3, 1))
    (datetime.date(2026, 4, 1), datetime.date(2026, 3, 1))
    """
    month = get_first_day_of_month(day)
    if month == day or count_months_between(month, dt.date.max) == 0:
        return month
    return add_months(month, 1)
