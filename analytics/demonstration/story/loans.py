"""A loan of the house bank, paid out within the last year and paid back in equal instalments with interest."""

from collections.abc import Iterator, Sequence
from datetime import date
from decimal import Decimal

from analytics.demonstration.story.movement import Movement
from ledger.calc.months import MONTHS_A_YEAR, months_between

CENT = Decimal("0.01")
INSTALMENTS = 60
BUDGETS = Decimal(3)  # months of the first budget, that were borrowed
YEARLY_RATE = Decimal("0.054")
DAY = 15
PAYOUT_BEFORE = 8  # months before today; in a shorter story it was paid out before the story


def find_payout_month(calendar: Sequence[date]) -> date | None:
    """Return the first day of the month in which the loan is paid out; None where that was before the story."""
    place = len(calendar) - 1 - PAYOUT_BEFORE
    return calendar[place] if place > 0 else None


def count_instalments(calendar: Sequence[date], month: date) -> int:
    """Return how many instalments are paid before the one of a month; the first is a month after the payout."""
    first = find_payout_month(calendar) or calendar[0]
    return max(months_between(first, month) - 1, 0)


def borrowed(budget: Decimal) -> Decimal:
    """A round sum that the instalments divide."""
    return max((budget * BUDGETS) // 6000, Decimal(1)) * 6000


def left(loan: Decimal, *, paid: int) -> Decimal:
    """What is still owed after so many instalments."""
    return loan / INSTALMENTS * max(INSTALMENTS - paid, 0)


def interest(loan: Decimal, *, paid: int) -> Decimal:
    """Of one month, on what is left after so many instalments."""
    return (left(loan, paid=paid) * YEARLY_RATE / MONTHS_A_YEAR).quantize(CENT)


def interest_paid(calendar: Sequence[date], loan: Decimal) -> Iterator[Movement]:
    """Each month on the day of the instalment, from the month after the payout on."""
    payout = find_payout_month(calendar)
    for month in calendar:
        if payout and month <= payout:
            continue
        amount = interest(loan, paid=count_instalments(calendar, month))
        if amount:
            yield Movement(
                "main", month.replace(day=DAY), -amount, "Northbank", f"Loan interest, {month:%B %Y}", "interest",
                vendor="Northbank",
            )  # fmt: skip
