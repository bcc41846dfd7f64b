"""What the transactions of a list come to: how many there are, and their amounts, by currency or in the base one."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from itertools import groupby
from operator import itemgetter
from typing import Any
from uuid import UUID

from django.contrib.postgres.expressions import ArraySubquery
from django.db.models import Count, F, Func, Max, Sum
from django.db.models.expressions import CombinedExpression

from companies.models import Among, Company
from ledger.calc.fx import MissingRate, convert
from ledger.calc.money import WIDE, round_half_up
from ledger.models import EXPENSES, Categorization
from ledger.money.rates import rate_table
from ledger.recognition.posting import NoRate
from ledger.transactions.filters import TransactionFilter

ZERO = Decimal(0)


@dataclass(frozen=True, slots=True)
class Total:
    count: int
    amount: Decimal


def total_of(asked: TransactionFilter, *, company: Company) -> Total:
    """Of all transactions that the filters leave, whatever the page; one statement.

    Whole amounts, each at its own day's rate; where flows are asked for, what of them was not transferred; where a part
    of the change of cash is, what of them counts in it; where months of recognition are, what of them counts there,
    signed as the profit and loss shows it. Raises NoRate.
    """
    try:
        if asked.posted:
            found = recognised(asked, company=company)
        else:
            found = added_up(asked.qs, counted_amount(asked.form.cleaned_data), company=company)
    except MissingRate as missing:
        raise NoRate.of(missing) from None
    return Total(found.count, round_half_up(found.amount, company.base_currency))


def counted_amount(filters: Mapping[str, Any]) -> F | CombinedExpression:
    """Return what of a transaction counts in the total of a list with these filters, in its own currency."""
    if filters.get("cashPart"):
        return F("counted")
    return F("amount_value") - F("transferred_value") if filters.get("flow") else F("amount_value")


def added_up(rows: Any, amount: Any, *, company: Company) -> Total:
    count, total, rates = 0, ZERO, rate_table()
    by_day = rows.order_by().values_list("date", "amount_currency").annotate(Count("id"), total=Sum(amount))
    for day, currency, rows_of_day, value in by_day:
        worth = convert(value, source=currency, target=company.base_currency, day=day, rates=rates)
        count, total = count + rows_of_day, WIDE.add(total, worth)
    return Total(count, total)


@dataclass(frozen=True, slots=True)
class Sums:
    """How many transactions there are and what they come to, currency by currency: those are never mixed."""

    count: int
    amounts: list[tuple[Decimal, str]]
    latest: datetime | None = None  # when one of them was changed last

    @property
    def word(self) -> str:
        """The same as one word: what somebody has seen and says yes to."""
        latest = f"{self.latest.timestamp():.6f}" if self.latest else ""
        amounts = (f"{amount.normalize():f}{currency}" for amount, currency in self.amounts)
        return "_".join((str(self.count), latest, *amounts))


def summed(rows: Any) -> Sums:
    """Of all the rows; one statement."""
    found = rows.order_by("amount_currency").values_list("amount_currency")
    by_currency = list(found.annotate(Count("id"), Sum("amount_value"), Max("last_updated_time")))
    return Sums(
        sum(count for _, count, _, _ in by_currency),
        [(amount, currency) for currency, _, amount, _ in by_currency],
        max((time for _, _, _, time in by_currency), default=None),
    )


def recognised(asked: TransactionFilter, *, company: Company) -> Total:
    """Each month is rounded, as the profit and loss shows it."""
    ids = asked.qs.values("id")
    parts = Categorization.objects.of(company.id).filter(Among("transaction_id", ids))
    shares = asked.postings.filter(Among("categorization_id", parts.values("id")))
    rows_found = Func(ArraySubquery(ids), function="cardinality")
    by_month = shares.values_list("month").annotate(Sum("counted"), rows=rows_found)
    count, total = 0, ZERO
    for _month, amount, rows in by_month:
        count, total = rows, total + round_half_up(amount, company.base_currency)
    return Total(count, -total if asked.posted.get("pl_type") in EXPENSES else total)


def shares_of(asked: TransactionFilter, *, company: Company) -> dict[UUID, Decimal]:
    """What of each transaction counts in the months asked for, signed, and rounded so that they add up to their total.

    Each is a difference of rounded running totals of its month; so all the rows are asked for, in two statements.
    """
    parts = Categorization.objects.of(company.id).filter(Among("transaction_id", asked.qs.values("id")))
    shares = asked.postings.filter(Among("categorization_id", parts.values("id")))
    transaction_of = dict(parts.values_list("id", "transaction_id"))
    sign = -1 if asked.posted.get("pl_type") in EXPENSES else 1
    found: dict[UUID, Decimal] = defaultdict(Decimal)
    rows = shares.order_by("month", "categorization_id").values_list("month", "categorization_id", "counted")
    for _month, of_month in groupby(rows, itemgetter(0)):
        before = exact = ZERO
        for _, part_id, amount in of_month:
            exact = WIDE.add(exact, amount)
            rounded = round_half_up(exact, company.base_currency)
            found[transaction_of[part_id]] += sign * (rounded - before)
            before = rounded
    return found
