"""What is missing in the profit and loss: booked money that is not categorized yet."""

from dataclasses import dataclass
from datetime import date
from decimal import Decimal

from django.db.models import Count, F, Q, Sum

from companies.models import Company
from ledger.calc.fx import RateTable, convert
from ledger.calc.money import WIDE, round_half_up
from ledger.models import Source, Transaction

ZERO = Decimal(0)


@dataclass(frozen=True, slots=True)
class OpenTransactions:
    """How many there are, and what of them is not categorized; both amounts ≥ 0, base currency. ``partly`` are those of
    which something is categorized."""

    count: int
    inflow: Decimal
    outflow: Decimal
    partly: int = 0


def open_transactions(*, company: Company, start: date, end: date, rates: RateTable) -> OpenTransactions:
    """Of the days from ``start`` to ``end``, each at its own rate; one statement. Raises MissingRate.

    As in the profit and loss, pending transactions and initial balances are left out and transit accounts count.
    """
    rest = F("amount_value") - F("categorized_value")
    rows = Transaction.objects.of(company.id).booked().open().exclude(source=Source.INITIAL_BALANCE)
    by_day = (
        rows.filter(date__range=(start, end))
        .values_list("date", "amount_currency")
        .annotate(
            count=Count("id"),
            partly=Count("id", filter=~Q(categorized_value=0)),
            inflow=Sum(rest, filter=Q(amount_value__gt=0), default=ZERO),
            outflow=Sum(-rest, filter=Q(amount_value__lt=0), default=ZERO),
        )
    )
    count, partly, inflow, outflow = 0, 0, ZERO, ZERO
    for day, currency, found, split, came, went in by_day:
        count, partly = count + found, partly + split
        inflow = WIDE.add(inflow, convert(came, source=currency, target=company.base_currency, day=day, rates=rates))
        outflow = WIDE.add(outflow, convert(went, source=currency, target=company.base_currency, day=day, rates=rates))
    base = company.base_currency
    return OpenTransactions(count, round_half_up(inflow, base), round_half_up(outflow, base), partly)
