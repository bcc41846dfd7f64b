"""What planned payments come to in the plan."""

from decimal import Decimal

from ledger.money.calc.money import MONEY_CONTEXT


def compute_amount_without_tax(amount: Decimal, *, planned_amount: Decimal, tax: Decimal) -> Decimal:
    """Take the tax out of an amount of which `tax` is in `planned_amount`; not rounded.

    >>> compute_amount_without_tax(Decimal(595), planned_amount=Decimal(1190), tax=Decimal(190))
    Decimal('500')
    >>> compute_amount_without_tax(Decimal(595), planned_amount=Decimal(0), tax=Decimal(0))
    Decimal('595')
    """
    if not tax:
        return amount
    share = MONEY_CONTEXT.divide(MONEY_CONTEXT.multiply(amount, tax), planned_amount)
    return MONEY_CONTEXT.subtract(amount, share)
