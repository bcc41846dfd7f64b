"""A loan of the house bank, paid back in equal instalments from the story's second month on, with interest."""

from collections.abc import Iterator, Sequence
from datetime import date
from decimal import Decimal

from analytics.demonstration.story.movement import Movement
from ledger.calc.months import MONTHS_A_YEAR

CENT = Decimal("0.01")
INSTALMENTS = 60
BUDGETS = Decimal(3)  # months of the first budget, that were borrowed
YEARLY_RATE = Decimal("0.054")
DAY = 15


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
    """Each month on the day of the instalment; the first of those is in the second month."""
    for paid, month in enumerate(calendar):
        amount = interest(loan, paid=max(paid - 1, 0))
        if amount:
            yield Movement(
                "main", month.replace(day=DAY), -amount, "Northbank", f"Loan interest, {month:%B %Y}", "interest",
                vendor="Northbank",
            )  # fmt: skip
