"""Payments by customers: monthly by card or invoice, and yearly in advance."""

from collections.abc import Iterator
from datetime import date, timedelta
from decimal import Decimal

from demo.scenario.customers import MONTHS_A_YEAR, SimulatedCustomer, SubscriptionTerm
from demo.scenario.movements import InvoiceTax, Movement
from ledger.calc.months import add_months, count_months_between

TAX_RATE = Decimal("0.19")
CENT = Decimal("0.01")
ACCOUNT_BY_CURRENCY = {"EUR": "main", "USD": "dollars", "GBP": "pounds"}
PAYMENT_TERM_DAYS = 14  # days within which invoices are paid


def iter_customer_payments(customer: SimulatedCustomer, *, first: date, today: date) -> Iterator[Movement]:
    """Yield every payment of a customer between two days."""
    for term in customer.terms:
        step = MONTHS_A_YEAR if term.yearly else 1
        payment_delay = timedelta(days=customer.number % PAYMENT_TERM_DAYS if term.yearly or term.plan.invoiced else 0)
        payment_number = max(0, count_months_between(term.start, first) // step - 1)
        while True:
            due = add_months(term.start, payment_number * step)
            if due > today or (term.end and due >= term.end):
                break
            if first <= due + payment_delay <= today:
                yield build_customer_payment(customer, term, due, due + payment_delay)
            payment_number += 1


def build_customer_payment(customer: SimulatedCustomer, term: SubscriptionTerm, due: date, day: date) -> Movement:
    """Build one payment; yearly ones belong to the twelve months from `due` on."""
    net = Decimal(term.price)
    has_tax = customer.domestic and customer.currency == "EUR" and term.plan.invoiced
    tax = (net * TAX_RATE).quantize(CENT) if has_tax else Decimal(0)
    period = (due, add_months(due, MONTHS_A_YEAR) - timedelta(days=1)) if term.yearly else None
    return Movement(
        account=ACCOUNT_BY_CURRENCY[customer.currency],
        day=day,
        amount=net + tax,
        counterparty_name=customer.name,
        text=f"{term.plan.name} plan, {f'{due:%B %Y} and eleven months more' if period else f'{due:%B %Y}'}",
        category="revenueRecurring",
        customer=customer,
        tax=InvoiceTax(amount=tax, period=period) if has_tax or period else None,
    )
