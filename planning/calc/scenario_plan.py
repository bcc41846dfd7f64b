"""Changes of a scenario, applied to plan items.

A plan item posts on the first day of a month. What an item cannot say becomes items of the difference beside it.
"""

import datetime as dt
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from uuid import UUID

from ledger.calc.months import add_months, count_months_between, get_first_day_of_month
from ledger.money.calc.money import MONEY_CONTEXT, round_half_up
from planning.calc.plan_postings import PlanAmount, PlanItemSchedule, compute_plan_postings
from planning.calc.scenario_changes import Change, get_horizon, scale_amount


@dataclass(frozen=True, slots=True)
class PlanItemState:
    """A plan item; `id` is None for one that is not stored yet."""

    id: UUID | None
    pl_type: str
    category_id: UUID
    currency: str
    month: dt.date
    frequency: int
    duration: int | None
    amount: PlanAmount

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
    changed_items: list[PlanItemState] = []
    for item in items:
        if not is_item_target(change, item):
            changed_items.append(item)
        elif change.kind == "stop":
            changed_items += stop_item(item, change)
        elif change.kind == "scale":
            changed_items += scale_item(item, change, through=through)
        else:
            changed_items.append(item)
    return changed_items


def is_item_target(change: Change, item: PlanItemState) -> bool:
    """Return whether a change applies to an item; those of planned transactions and counterparties do not."""
    if change.category_id is not None:
        return change.category_id == item.category_id
    return change.pl_type is not None and change.pl_type == item.pl_type


def stop_item(item: PlanItemState, change: Change) -> Iterator[PlanItemState]:
    """Yield the item with its postings before a day."""
    months = count_months_between(item.month, round_up_to_month(change.start or dt.date.min))
    if months <= 0:
        return
    ends_earlier = item.frequency == 0 or (item.duration is not None and item.duration <= months)
    yield item if ends_earlier else replace(item, duration=months)


def scale_item(item: PlanItemState, change: Change, *, through: dt.date) -> Iterator[PlanItemState]:
    """Yield the item, and items of what a percentage adds to some of its postings.

    Every posting is rounded half up.
    """
    value = item.amount.amount
    scaled = scale_amount(value, percent=change.percent, currency=item.currency)
    last_month = item.last_month
    is_whole = (change.start is None or change.start <= item.month) and (
        change.end is None or (last_month is not None and last_month <= change.end)
    )
    is_fixed = item.amount.type == "fixed" or item.frequency == 0
    exact = MONEY_CONTEXT.multiply(value, MONEY_CONTEXT.add(1, MONEY_CONTEXT.divide(change.percent, 100)))
    if is_whole and (is_fixed or exact == scaled):
        yield replace(item, amount=PlanAmount(item.amount.type, scaled, item.amount.relative_change))
        return
    yield item
    if is_fixed:
        yield from build_fixed_difference(item, change, PlanAmount("fixed", scaled - value))
        return
    first = item.month if change.start is None else max(item.month, round_up_to_month(change.start))
    last = min(through, get_first_day_of_month(change.end or get_horizon(change.horizon, item.month)))
    for month, amount in compute_plan_postings(item.schedule, window_start=first, window_end=last).items():
        planned = round_half_up(amount, item.currency)
        difference = scale_amount(amount, percent=change.percent, currency=item.currency) - planned
        if difference:
            yield replace(
                item, id=None, month=month, frequency=0, duration=None, amount=PlanAmount("fixed", difference)
            )


def build_fixed_difference(item: PlanItemState, change: Change, amount: PlanAmount) -> Iterator[PlanItemState]:
    """Yield an item that posts an amount where a fixed item posts on the days of a change; nothing where it does not.

    An item that posts once is either changed as a whole or not at all.
    """
    if item.frequency == 0 or not amount.amount:
        return
    first = item.month if change.start is None else max(item.month, round_up_to_month(change.start))
    months = -(-count_months_between(item.month, first) // item.frequency) * item.frequency
    if months > count_months_between(item.month, dt.date.max):
        return
    month = add_months(item.month, months)
    durations = [] if item.duration is None else [item.duration - months]
    if change.end is not None:
        durations.append(count_months_between(month, change.end) + 1)
    duration = min(durations, default=None)
    if duration is None or duration > 0:
        yield replace(item, id=None, month=month, duration=duration, amount=amount)


def round_up_to_month(day: dt.date) -> dt.date:
    """Return the first day of a month on or after a day.

    >>> round_up_to_month(dt.date(2026, 3, 15)), round_up_to_month(dt.date(2026, 3, 1))
    (datetime.date(2026, 4, 1), datetime.date(2026, 3, 1))
    """
    month = get_first_day_of_month(day)
    if month == day or count_months_between(month, dt.date.max) == 0:
        return month
    return add_months(month, 1)
