"""Planned totals: how much of a month's planned occurrences in one category is booked already."""

import datetime as dt
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import NamedTuple
from uuid import UUID

from ledger.calc.fx import RateTable, convert
from ledger.calc.money import WIDE, round_half_up

ZERO = Decimal(0)
OccurrenceKey = tuple[UUID, dt.date]  # planned transaction, original date


class PlannedTotal(NamedTuple):
    """An occurrence that stands for a month's total; without an account or a counterparty any counts."""

    planned_id: UUID
    original_date: dt.date
    date: dt.date
    amount: Decimal
    currency: str
    account_id: UUID | None = None
    counterparty_id: UUID | None = None

    @property
    def key(self) -> OccurrenceKey:
        return self.planned_id, self.original_date


class BookedAmount(NamedTuple):
    """What was booked on a day in the category; negative is money out."""

    date: dt.date
    amount: Decimal
    currency: str
    account_id: UUID
    counterparty_id: UUID | None = None


@dataclass(slots=True)
class Remainder:
    """A booked amount without its sign, and what of it settles nothing yet."""

    booked: BookedAmount
    left: Decimal

    @classmethod
    def of(cls, booked: BookedAmount) -> "Remainder":
        return cls(booked, abs(booked.amount))


def compute_settled_amounts(
    totals: Sequence[PlannedTotal], booked: Iterable[BookedAmount], *, rates: RateTable
) -> dict[OccurrenceKey, Decimal]:
    """How much of each total is booked, with its sign, in its currency and never more than was planned.

    The totals and the booked amounts are those of one category and month. Each booked amount counts once: first for
    totals with its counterparty, then for those without one; first for those on its account, then for all; and within
    that in the order of dates. Money in the other direction, such as a refund, is taken off, unless something is
    planned in that direction. Other currencies are converted at the day's rate.

    Raises:
        MissingRate: a currency has no exchange rate.

    >>> plan, march = UUID(int=1), dt.date(2024, 3, 10)
    >>> total = PlannedTotal(plan, march, march, Decimal(1000), "EUR")
    >>> paid = BookedAmount(dt.date(2024, 3, 4), Decimal(600), "EUR", UUID(int=2))
    >>> compute_settled_amounts([total], [paid], rates=RateTable([]))[total.key]
    Decimal('600.00')
    """
    rows = sorted(booked, key=lambda row: (row.date, str(row.account_id), row.currency))
    settled: dict[OccurrenceKey, Decimal] = {}
    signs = {1 if total.amount > 0 else -1 for total in totals if total.amount}
    for sign in signs:
        planned = sorted(
            (total for total in totals if total.amount * sign > 0),
            key=lambda total: (total.date, str(total.planned_id), total.original_date),
        )
        pool = [Remainder.of(row) for row in rows if row.amount * sign > 0]
        opposite = [Remainder.of(row) for row in rows if row.amount * sign < 0] if len(signs) == 1 else []
        for total, amount in settle_direction(planned, pool, opposite, rates=rates):
            settled[total.key] = sign * round_half_up(amount, total.currency)
    return settled


def settle_direction(
    totals: Sequence[PlannedTotal], pool: Sequence[Remainder], opposite: Sequence[Remainder], *, rates: RateTable
) -> Iterable[tuple[PlannedTotal, Decimal]]:
    """The same for totals of one direction, without signs and not rounded."""
    taken = dict.fromkeys((total.key for total in totals), ZERO)
    named = {total.counterparty_id for total in totals} - {None}

    def is_of(counterparty_id: UUID | None) -> Callable[[Remainder], bool]:
        return lambda row: counterparty_id is None or row.booked.counterparty_id == counterparty_id

    def take_off(refunds: Iterable[Remainder], *, same_counterparty: bool) -> None:
        for refund in refunds:
            counterparty_id = refund.booked.counterparty_id if same_counterparty else None
            fitting = sorted(
                filter(is_of(counterparty_id), pool), key=lambda row: row.booked.account_id != refund.booked.account_id
            )
            refund.left -= take(refund.left, refund.booked.currency, fitting, rates=rates)

    def fill(wanted: Sequence[PlannedTotal]) -> None:
        for any_account in (False, True):
            for total in wanted:
                fitting = [
                    row
                    for row in filter(is_of(total.counterparty_id), pool)
                    if any_account or row.booked.account_id == total.account_id
                ]
                missing = WIDE.subtract(abs(total.amount), taken[total.key])
                taken[total.key] = WIDE.add(taken[total.key], take(missing, total.currency, fitting, rates=rates))

    take_off((row for row in opposite if row.booked.counterparty_id in named), same_counterparty=True)
    fill([total for total in totals if total.counterparty_id is not None])
    take_off(opposite, same_counterparty=False)
    fill([total for total in totals if total.counterparty_id is None])
    return [(total, taken[total.key]) for total in totals]


def take(wanted: Decimal, currency: str, pool: Iterable[Remainder], *, rates: RateTable) -> Decimal:
    """Take up to an amount out of a pool; return what was there of it. Raises MissingRate."""
    found = ZERO
    for row in pool:
        missing = WIDE.subtract(wanted, found)
        if not missing:
            break
        if not row.left:
            continue
        of_row, day = row.booked.currency, row.booked.date
        worth = convert(row.left, source=of_row, target=currency, day=day, rates=rates)
        if worth <= missing:
            found, row.left = WIDE.add(found, worth), ZERO
        else:
            used = convert(missing, source=currency, target=of_row, day=day, rates=rates)
            found, row.left = wanted, max(WIDE.subtract(row.left, used), ZERO)
    return found
