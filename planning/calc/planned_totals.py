"""How much of a month's planned total in one category is booked."""

import datetime as dt
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import NamedTuple
from uuid import UUID

from ledger.money.calc.fx import RateTable, convert_currency
from ledger.money.calc.money import MONEY_CONTEXT, round_half_up

ZERO = Decimal(0)
OccurrenceKey = tuple[UUID, dt.date]  # planned transaction, original date


class PlannedTotal(NamedTuple):
    """A planned occurrence that stands for a month's total in its category.

    Without an account or a counterparty, bookings with any of them count.
    """

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
    """An amount booked in the category on one day; negative is money out.

    `is_settled_by_transfer` is whether it is on a card or in transit, and reaches cash by a transfer.
    """

    date: dt.date
    amount: Decimal
    currency: str
    account_id: UUID | None
    counterparty_id: UUID | None = None
    is_settled_by_transfer: bool = False


@dataclass(slots=True)
class BookedRemainder:
    """A booked amount without its sign, and the part of it that settles nothing yet."""

    booked: BookedAmount
    remaining: Decimal

    @classmethod
    def from_booked_amount(cls, booked: BookedAmount) -> "BookedRemainder":
        return cls(booked, abs(booked.amount))


def compute_settled_amounts(
    totals: Sequence[PlannedTotal], booked: Iterable[BookedAmount], *, rates: RateTable
) -> dict[OccurrenceKey, Decimal]:
    """Compute how much of each planned total is booked: signed, in its currency, at most what is planned.

    All totals and booked amounts belong to one category and month. Each booked amount counts once: first for
    totals with its counterparty, then for those without one; within that first for totals on its account, then
    for all; within that by date. Money in the other direction, such as a refund, is subtracted unless something
    is planned in that direction. Other currencies are converted at the day's rate.

    Raises:
        MissingRate: a currency has no exchange rate.

    >>> plan, march = UUID(int=1), dt.date(2024, 3, 10)
    >>> total = PlannedTotal(plan, march, march, Decimal(1000), "EUR")
    >>> paid = BookedAmount(dt.date(2024, 3, 4), Decimal(600), "EUR", UUID(int=2))
    >>> compute_settled_amounts([total], [paid], rates=RateTable([]))[total.key]
    Decimal('600.00')
    """
    rows = sorted(booked, key=lambda row: (row.date, str(row.account_id), row.currency))
    settled_amounts: dict[OccurrenceKey, Decimal] = {}
    signs = {1 if total.amount > 0 else -1 for total in totals if total.amount}
    for sign in signs:
        planned = sorted(
            (total for total in totals if total.amount * sign > 0),
            key=lambda total: (total.date, str(total.planned_id), total.original_date),
        )
        pool = [BookedRemainder.from_booked_amount(row) for row in rows if row.amount * sign > 0]
        opposite = (
            [BookedRemainder.from_booked_amount(row) for row in rows if row.amount * sign < 0]
            if len(signs) == 1
            else []
        )
        for total, amount in allocate_direction(planned, pool, opposite, rates=rates):
            settled_amounts[total.key] = sign * round_half_up(amount, total.currency)
    return settled_amounts


def compute_amounts_by_account(
    totals: Sequence[PlannedTotal], booked: Sequence[BookedAmount], account_ids: Collection[UUID], *, rates: RateTable
) -> dict[tuple[OccurrenceKey, UUID], Decimal]:
    """Compute how much of each planned total is settled by bookings on some accounts only, by account.

    What bookings on all other accounts settle comes first. Amounts are signed and in the currency of the total.

    Raises:
        MissingRate: a currency has no exchange rate.
    """
    amounts: dict[tuple[OccurrenceKey, UUID], Decimal] = {}
    counted = [row for row in booked if row.account_id not in account_ids]
    settled_amounts = compute_settled_amounts(totals, counted, rates=rates)
    for account_id in sorted({row.account_id for row in booked if row.account_id is not None} & {*account_ids}):
        counted += [row for row in booked if row.account_id == account_id]
        settled_before, settled_amounts = settled_amounts, compute_settled_amounts(totals, counted, rates=rates)
        for key, amount in settled_amounts.items():
            if difference := amount - settled_before.get(key, ZERO):
                amounts[key, account_id] = difference
    return amounts


def allocate_direction(
    totals: Sequence[PlannedTotal],
    pool: Sequence[BookedRemainder],
    opposite: Sequence[BookedRemainder],
    *,
    rates: RateTable,
) -> Iterable[tuple[PlannedTotal, Decimal]]:
    """Allocate booked amounts to the totals of one direction; without signs and not rounded."""
    settled_amounts = dict.fromkeys((total.key for total in totals), ZERO)
    counterparty_ids = {total.counterparty_id for total in totals} - {None}

    def has_counterparty(counterparty_id: UUID | None) -> Callable[[BookedRemainder], bool]:
        return lambda row: counterparty_id is None or row.booked.counterparty_id == counterparty_id

    def offset_refunds(refunds: Iterable[BookedRemainder], *, same_counterparty: bool) -> None:
        for refund in refunds:
            counterparty_id = refund.booked.counterparty_id if same_counterparty else None
            fitting = sorted(
                filter(has_counterparty(counterparty_id), pool),
                key=lambda row: row.booked.account_id != refund.booked.account_id,
            )
            refund.remaining -= take_amount_from_pool(refund.remaining, refund.booked.currency, fitting, rates=rates)

    def fill_totals(wanted: Sequence[PlannedTotal]) -> None:
        for any_account in (False, True):
            for total in wanted:
                fitting = [
                    row
                    for row in filter(has_counterparty(total.counterparty_id), pool)
                    if any_account or row.booked.account_id == total.account_id
                ]
                missing = MONEY_CONTEXT.subtract(abs(total.amount), settled_amounts[total.key])
                settled_amounts[total.key] = MONEY_CONTEXT.add(
                    settled_amounts[total.key], take_amount_from_pool(missing, total.currency, fitting, rates=rates)
                )

    offset_refunds((row for row in opposite if row.booked.counterparty_id in counterparty_ids), same_counterparty=True)
    fill_totals([total for total in totals if total.counterparty_id is not None])
    offset_refunds(opposite, same_counterparty=False)
    fill_totals([total for total in totals if total.counterparty_id is None])
    return [(total, settled_amounts[total.key]) for total in totals]


def take_amount_from_pool(
    requested: Decimal, currency: str, pool: Iterable[BookedRemainder], *, rates: RateTable
) -> Decimal:
    """Take up to an amount out of a pool of booked remainders, and return how much was taken.

    Raises:
        MissingRate: a currency has no exchange rate.
    """
    taken_amount = ZERO
    for row in pool:
        still_missing = MONEY_CONTEXT.subtract(requested, taken_amount)
        if not still_missing:
            break
        if not row.remaining:
            continue
        row_currency, day = row.booked.currency, row.booked.date
        converted_amount = convert_currency(row.remaining, source=row_currency, target=currency, day=day, rates=rates)
        if converted_amount <= still_missing:
            taken_amount, row.remaining = MONEY_CONTEXT.add(taken_amount, converted_amount), ZERO
        else:
            used = convert_currency(still_missing, source=currency, target=row_currency, day=day, rates=rates)
            taken_amount, row.remaining = requested, max(MONEY_CONTEXT.subtract(row.remaining, used), ZERO)
    return taken_amount
