"""Settling occurrences by amounts: how much one transaction can pay, and the state that follows.

Amounts are signed: negative is money out. Amounts that one transaction pays add up with their signs, so that a credit
note raises what is left of a payment for the invoices beside it.
"""

import datetime as dt
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal, NamedTuple
from uuid import UUID

from ledger.money.calc.fx import RateTable, convert_currency
from ledger.money.calc.money import MONEY_CONTEXT, round_half_up

ZERO = Decimal(0)
SettlementState = Literal["open", "partlyPaid", "paid", "overdue", "writtenOff", "skipped"]


class SettlementPart(NamedTuple):
    """A payment of an occurrence by a transaction, or a write-off; in the currency of the plan.

    `date` is the day from which it counts. Without a transaction it is a write-off, which may have a reason.
    """

    transaction_id: UUID | None
    date: dt.date
    amount: Decimal
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class SettledAmount:
    """What is paid and written off of an occurrence, in the sign and currency of the plan."""

    paid: Decimal = ZERO
    written_off: Decimal = ZERO
    parts: tuple[SettlementPart, ...] = ()

    @property
    def total(self) -> Decimal:
        return MONEY_CONTEXT.add(self.paid, self.written_off)

    @classmethod
    def from_parts(cls, parts: Iterable[SettlementPart]) -> "SettledAmount":
        """Add up parts, which are listed by day.

        >>> part = SettlementPart(UUID(int=1), dt.date(2024, 1, 31), Decimal(30))
        >>> SettledAmount.from_parts([part, SettlementPart(None, dt.date(2024, 2, 1), Decimal(2))]).total
        Decimal('32')
        """
        ordered = tuple(sorted(parts, key=lambda part: part.date))
        paid = sum((part.amount for part in ordered if part.transaction_id is not None), start=ZERO)
        written_off = sum((part.amount for part in ordered if part.transaction_id is None), start=ZERO)
        return cls(paid, written_off, ordered)


NOTHING = SettledAmount()


class Payment(NamedTuple):
    """A transaction that pays: its day, amount and currency, and what is left of it, signed.

    `remaining` is the amount less everything it pays elsewhere, added up with signs.
    """

    date: dt.date
    amount: Decimal
    currency: str
    remaining: Decimal


def compute_largest_settlement(open_amount: Decimal, currency: str, payment: Payment, *, rates: RateTable) -> Decimal:
    """Compute how much of an open amount a transaction can pay, in the currency and sign of the plan.

    A transaction in the other direction, such as a payment less a credit note, is not used up by it.

    Raises:
        MissingRate: a currency has no exchange rate.

    >>> payment = Payment(dt.date(2024, 1, 31), Decimal(80), "EUR", Decimal(80))
    >>> compute_largest_settlement(Decimal(100), "EUR", payment, rates=RateTable([]))
    Decimal('80.00')
    >>> compute_largest_settlement(Decimal(-20), "EUR", payment, rates=RateTable([]))
    Decimal('-20')
    """
    if open_amount * payment.amount <= 0:
        return open_amount
    if payment.remaining * payment.amount <= 0:
        return ZERO
    converted_amount = convert_remaining(currency, payment, rates=rates)
    return converted_amount if abs(converted_amount) < abs(open_amount) else open_amount


def convert_remaining(currency: str, payment: Payment, *, rates: RateTable) -> Decimal:
    """Convert what is left of a transaction at the rate of its day."""
    converted_amount = convert_currency(
        payment.remaining, source=payment.currency, target=currency, day=payment.date, rates=rates
    )
    return round_half_up(converted_amount, currency)


def compute_transaction_amount(amount: Decimal, currency: str, payment: Payment, *, rates: RateTable) -> Decimal:
    """Convert a settled amount into the currency of its transaction; never more than what is left of it.

    Raises:
        MissingRate: a currency has no exchange rate.
    """
    if currency == payment.currency:
        return amount
    converted_amount = convert_currency(amount, source=currency, target=payment.currency, day=payment.date, rates=rates)
    used = round_half_up(converted_amount, payment.currency)
    if amount * payment.amount <= 0:
        return used
    uses_everything = amount == convert_remaining(currency, payment, rates=rates)
    return payment.remaining if uses_everything or abs(used) > abs(payment.remaining) else used


def get_settlement_state(
    amount: Decimal, settled_amount: SettledAmount, *, is_overdue: bool, is_skipped: bool = False
) -> SettlementState:
    """Return the state of an occurrence of an amount.

    >>> get_settlement_state(Decimal(100), SettledAmount(paid=Decimal(40)), is_overdue=False)
    'partlyPaid'
    >>> get_settlement_state(Decimal(100), SettledAmount(Decimal(98), Decimal(2)), is_overdue=True)
    'writtenOff'
    """
    if is_skipped:
        return "skipped"
    if settled_amount.total and settled_amount.total == amount:
        return "writtenOff" if settled_amount.written_off else "paid"
    if is_overdue:
        return "overdue"
    return "partlyPaid" if settled_amount.total else "open"
