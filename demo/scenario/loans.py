"""A bank loan, paid out within the last year and repaid in equal instalments with interest."""

from collections.abc import Iterator, Sequence
from datetime import date
from decimal import Decimal

from demo.scenario.movements import Movement
from ledger.calc.months import MONTHS_PER_YEAR, count_months_between

CENT = Decimal("0.01")
INSTALMENT_COUNT = 60
LOAN_BUDGET_MONTHS = Decimal(3)  # loan amount in months of the first budget
YEARLY_INTEREST_RATE = Decimal("0.054")
INSTALMENT_DAY = 15
PAYOUT_MONTHS_AGO = 8  # months before today; in a shorter scenario, before its start


def find_payout_month(calendar: Sequence[date]) -> date | None:
    """Return the first day of the month in which the loan is paid out; None if that was before the scenario."""
    place = len(calendar) - 1 - PAYOUT_MONTHS_AGO
    return calendar[place] if place > 0 else None


def count_instalments(calendar: Sequence[date], month: date) -> int:
    """Return how many instalments are paid before a month's; the first is a month after the payout."""
    first = find_payout_month(calendar) or calendar[0]
    return max(count_months_between(first, month) - 1, 0)


def compute_loan_amount(budget: Decimal) -> Decimal:
    """Return a round amount that the instalments divide."""
    return max((budget * LOAN_BUDGET_MONTHS) // 6000, Decimal(1)) * 6000


def compute_outstanding_loan(loan: Decimal, *, instalments_paid: int) -> Decimal:
    """Return the outstanding amount after a number of instalments."""
    return loan / INSTALMENT_COUNT * max(INSTALMENT_COUNT - instalments_paid, 0)


def compute_monthly_interest(loan: Decimal, *, instalments_paid: int) -> Decimal:
    """Return one month's interest on what is outstanding after a number of instalments."""
    return (
        compute_outstanding_loan(loan, instalments_paid=instalments_paid) * YEARLY_INTEREST_RATE / MONTHS_PER_YEAR
    ).quantize(CENT)


def iter_interest_payments(calendar: Sequence[date], loan: Decimal) -> Iterator[Movement]:
    """Yield the monthly interest payments, from the month after the payout on."""
    payout = find_payout_month(calendar)
    for month in calendar:
        if payout and month <= payout:
            continue
        amount = compute_monthly_interest(loan, instalments_paid=count_instalments(calendar, month))
        if amount:
            yield Movement(
                "main", month.replace(day=INSTALMENT_DAY), -amount, "Northbank", f"Loan interest, {month:%B %Y}",
                "interest",
                vendor="Northbank",
            )  # fmt: skip
