"""What customers pay: by card and by invoice each month, for a year in advance, and for what they use."""

from collections.abc import Iterator
from datetime import date, timedelta
from decimal import Decimal

from analytics.demonstration.story.customers import MONTHS_A_YEAR, Customer, Stretch
from analytics.demonstration.story.movement import Movement, Tax
from ledger.calc.months import add_months, months_between

TAX = Decimal("0.19")
CENT = Decimal("0.01")
ACCOUNTS = {"EUR": "main", "USD": "dollars", "GBP": "pounds"}
TERMS = 14  # days within which invoices are paid


def payments(customer: Customer, *, first: date, today: date) -> Iterator[Movement]:
    """Every payment of a customer between the two days."""
    for stretch in customer.stretches:
        step = MONTHS_A_YEAR if stretch.yearly else 1
        wait = timedelta(days=customer.number % TERMS if stretch.yearly or stretch.plan.invoiced else 0)
        passed = max(0, months_between(stretch.start, first) // step - 1)
        while True:
            due = add_months(stretch.start, passed * step)
            if due > today or (stretch.end and due >= stretch.end):
                break
            if first <= due + wait <= today:
                yield payment(customer, stretch, due, due + wait)
            passed += 1


def payment(customer: Customer, stretch: Stretch, due: date, day: date) -> Movement:
    """One payment; those for a year belong to the twelve months from ``due`` on."""
    net = Decimal(stretch.price)
    taxed = customer.domestic and customer.currency == "EUR" and stretch.plan.invoiced
    tax = (net * TAX).quantize(CENT) if taxed else Decimal(0)
    period = (due, add_months(due, MONTHS_A_YEAR) - timedelta(days=1)) if stretch.yearly else None
    return Movement(
        account=ACCOUNTS[customer.currency],
        day=day,
        amount=net + tax,
        who=customer.name,
        text=f"{stretch.plan.name} plan, {f'{due:%B %Y} and eleven months more' if period else f'{due:%B %Y}'}",
        category="revenueRecurring",
        customer=customer,
        tax=Tax(amount=tax, period=period) if taxed or period else None,
    )
