"""What was billed to each customer against what came in from them, month by month."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from itertools import groupby
from operator import itemgetter
from typing import Any
from uuid import UUID

from django.db.models import Case, DateField, F, Sum, When
from django.db.models.functions import Cast, TruncMonth

from analytics.calc.billing import Billing, PriceEvent, list_billings
from companies.models import Company, IdIn
from ledger.calc.months import get_first_day_of_month, get_last_day_of_month
from ledger.models import Categorization, Counterparty, CounterpartyType, Subscription, SubscriptionEvent
from ledger.money.calc.fx import RateTable, convert_currency
from ledger.money.calc.money import MONEY_CONTEXT, round_half_up
from planning.models import PlannedTransaction, attach_overrides

ZERO = Decimal(0)
CustomerMonth = tuple[UUID, date]  # customer and first day of the month


@dataclass(frozen=True, slots=True)
class BilledMonth:
    """What was billed and received in a month, in the base currency, both rounded.

    `invoice_ids` are the invoices that `billed` adds up; empty where subscription prices count.
    """

    billed: Decimal = ZERO
    received: Decimal = ZERO
    invoice_ids: Sequence[UUID] = ()

    @property
    def difference(self) -> Decimal:
        """What came in less what was billed."""
        return self.received - self.billed

    def __add__(self, other: "BilledMonth") -> "BilledMonth":
        return BilledMonth(self.billed + other.billed, self.received + other.received)


@dataclass(frozen=True, slots=True)
class BilledCustomer:
    """A customer with the figures of each month."""

    id: UUID
    name: str
    months: Sequence[BilledMonth]

    @property
    def total(self) -> BilledMonth:
        """The sum of the months."""
        return sum(self.months, start=BilledMonth())


@dataclass(frozen=True, slots=True)
class BilledAndReceived:
    """Customers with the largest shortfall first, and what came in from customers that are never billed.

    Only customers with a figure in the months are in it. `other_months` has a figure for each month.
    """

    months: Sequence[date]
    customers: Sequence[BilledCustomer]
    other_months: Sequence[BilledMonth]


@dataclass(slots=True)
class InvoiceSum:
    """The invoices of a customer in a month; `amount` is in the base currency, not rounded."""

    amount: Decimal = ZERO
    ids: list[UUID] = field(default_factory=list)


def compare_billed_and_received(
    *, company: Company, months: Sequence[date], today: date, rates: RateTable
) -> BilledAndReceived:
    """Compare what was billed to each customer with what came in from them, up to today.

    A month's billed amount is its invoices, or what subscription prices bill where the customer has none in it. Each
    amount is converted at the rate of its day, and each figure is rounded once.

    Args:
        months: first days, consecutive.

    Raises:
        MissingRateError: a currency has no exchange rate.
    """
    window = {"start": months[0], "end": min(get_last_day_of_month(months[-1]), today)}
    invoices = sum_invoices(company, rates=rates, **window)
    prices = sum_subscription_prices(company, rates=rates, **window)
    receipts = sum_receipts(company, rates=rates, **window)
    paying_ids = {customer_id for customer_id, _ in receipts}
    billed_ids = {customer_id for customer_id, _ in (*invoices, *prices)}
    listed_ids = billed_ids | find_billed_customer_ids(company, paying_ids - billed_ids)
    base = company.base_currency

    def build_month(key: CustomerMonth) -> BilledMonth:
        invoiced = invoices.get(key)
        billed = invoiced.amount if invoiced else prices.get(key, ZERO)
        received = round_half_up(receipts.get(key, ZERO), base)
        return BilledMonth(round_half_up(billed, base), received, invoiced.ids if invoiced else ())

    names = Counterparty.objects.for_company(company.id).filter(IdIn("id", list(listed_ids))).values_list("id", "name")
    customers = [BilledCustomer(key, name, [build_month((key, month)) for month in months]) for key, name in names]
    listed_customers = [each for each in customers if any(month.billed or month.received for month in each.months)]
    return BilledAndReceived(
        months=months,
        customers=sorted(listed_customers, key=lambda each: (each.total.difference, each.name, each.id)),
        other_months=[
            sum((build_month((key, month)) for key in paying_ids - listed_ids), start=BilledMonth()) for month in months
        ],
    )


def sum_receipts(company: Company, *, start: date, end: date, rates: RateTable) -> dict[CustomerMonth, Decimal]:
    """Return what came in from customers on cash accounts, less refunds, in the base currency; not rounded.

    Only booked amounts that are categorized with the customer count, without transfers and initial balances.

    Raises:
        MissingRateError.
    """
    month = Cast(TruncMonth("transaction__date"), DateField())
    in_base_currency = When(transaction__amount_currency=company.base_currency, then=month)  # needs no rate of a day
    amounts = (
        Categorization.objects.for_company(company.id)
        .counted_in_results()
        .filter(
            counterparty__type=CounterpartyType.CUSTOMER,
            transaction__account__include_in_cash_balance=True,
            transaction__date__range=(start, end),
        )
        .annotate(rate_day=Case(in_base_currency, default=F("transaction__date")))
        .values_list("counterparty_id", "rate_day", "transaction__amount_currency")
        .annotate(Sum("value"))
    )
    return sum_by_customer_month(
        ((key, Billing(day, amount, currency)) for key, day, currency, amount in amounts),
        base=company.base_currency,
        rates=rates,
    )


def sum_subscription_prices(
    company: Company, *, start: date, end: date, rates: RateTable
) -> dict[CustomerMonth, Decimal]:
    """Return what subscription prices bill in [start, end], in the base currency; not rounded.

    Raises:
        MissingRateError.
    """
    events = (
        SubscriptionEvent.objects.for_company(company.id)
        .not_retracted()
        .filter(effective_date__lte=end)
        .order_by("subscription_id", "effective_date", "id")
        .values_list(
            "subscription_id",
            "subscription__customer_id",
            "effective_date",
            "amount_value",
            "amount_currency",
            "interval",
            "interval_count",
        )
    )
    billings = (
        (customer_id, billing)
        for (_, customer_id), rows in groupby(events, itemgetter(0, 1))
        for billing in list_billings((to_price_event(*row[2:]) for row in rows), start=start, end=end)
    )
    return sum_by_customer_month(billings, base=company.base_currency, rates=rates)


def to_price_event(day: date, amount: Decimal, currency: str, interval: Any, count: int) -> PriceEvent:
    return PriceEvent(day, amount, currency, interval, count)


def sum_by_customer_month(
    amounts: Iterable[tuple[UUID, Billing]], *, base: str, rates: RateTable
) -> dict[CustomerMonth, Decimal]:
    """Add up amounts of customers by month, each at the rate of its day.

    Raises:
        MissingRateError.
    """
    sums: defaultdict[CustomerMonth, Decimal] = defaultdict(lambda: ZERO)
    for customer_id, billing in amounts:
        key = (customer_id, get_first_day_of_month(billing.day))
        sums[key] = MONEY_CONTEXT.add(sums[key], convert_to_base(billing, base=base, rates=rates))
    return dict(sums)


def convert_to_base(billing: Billing, *, base: str, rates: RateTable) -> Decimal:
    return convert_currency(billing.amount, source=billing.currency, target=base, day=billing.day, rates=rates)


def sum_invoices(company: Company, *, start: date, end: date, rates: RateTable) -> Mapping[CustomerMonth, InvoiceSum]:
    """Return customers' invoices by invoice date, tax included and less credit notes; skipped ones are left out.

    Raises:
        MissingRateError.
    """
    rows = list_customer_invoices(company).filter(invoice_date__range=(start, end))
    sums: defaultdict[CustomerMonth, InvoiceSum] = defaultdict(InvoiceSum)
    for row in attach_overrides(list(rows.order_by("invoice_date", "id"))):
        amount = get_invoiced_amount(row)
        if amount is None:
            continue
        billing = Billing(row.invoice_date or row.start_date, amount, row.amount_currency)
        assert row.counterparty_id is not None  # noqa: S101 - it has a type
        total = sums[row.counterparty_id, get_first_day_of_month(billing.day)]
        total.amount = MONEY_CONTEXT.add(
            total.amount, convert_to_base(billing, base=company.base_currency, rates=rates)
        )
        total.ids.append(row.id)
    return sums


def get_invoiced_amount(invoice: PlannedTransaction) -> Decimal | None:
    """Return the amount of an invoice with its overrides attached; None if it is skipped."""
    override = invoice.overrides.get(invoice.start_date)
    if override is None:
        return invoice.amount_value
    if override.skipped:
        return None
    return invoice.amount_value if override.amount_value is None else override.amount_value


def list_customer_invoices(company: Company) -> Any:
    """Return the invoices of counterparties of type customer, credit notes included."""
    invoices = PlannedTransaction.objects.for_company(company.id).invoices()
    return invoices.filter(counterparty__type=CounterpartyType.CUSTOMER)


def find_billed_customer_ids(company: Company, customer_ids: set[UUID]) -> set[UUID]:
    """Return those of the customers that have a subscription or an invoice at any time."""
    if not customer_ids:
        return set()
    ids = list(customer_ids)
    subscribed = Subscription.objects.for_company(company.id).filter(IdIn("customer_id", ids))
    invoiced = list_customer_invoices(company).filter(IdIn("counterparty_id", ids))
    return {*subscribed.values_list("customer_id", flat=True), *invoiced.values_list("counterparty_id", flat=True)}
