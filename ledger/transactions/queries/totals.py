"""Totals of transaction lists: counts and amounts, by currency or in the base currency."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from itertools import groupby
from operator import itemgetter
from typing import Any
from uuid import UUID

from django.contrib.postgres.expressions import ArraySubquery
from django.db.models import Count, F, Func, Max, Q, Sum
from django.db.models.expressions import CombinedExpression

from companies.models import Company, IdIn
from ledger.models import EXPENSE_LINES, Categorization
from ledger.money.calc.fx import RateLookupError, convert_currency
from ledger.money.calc.money import MONEY_CONTEXT, round_half_up
from ledger.money.rates import get_rate_table
from ledger.recognition.actions.postings import MissingRateError
from ledger.transactions.filters import TransactionFilter

ZERO = Decimal(0)


@dataclass(frozen=True, slots=True)
class TransactionTotal:
    """A number of transactions and their amount in the base currency, and what of both is pending."""

    count: int
    amount: Decimal
    pending_count: int = 0
    pending_amount: Decimal = ZERO


def compute_total(filterset: TransactionFilter, *, company: Company) -> TransactionTotal:
    """Return the total of all transactions that match the filters, on all pages; one statement.

    Whole amounts at the rate of their day. With the flow filter, without transferred amounts; with a part of
    the change of cash, what counts in it; with months of recognition, what counts there, signed as in the
    profit and loss.

    Raises:
        MissingRateError.
    """
    try:
        if filterset.posting_conditions:
            total = sum_recognized_shares(filterset, company=company)
        else:
            total = total_in_base_currency(
                filterset.qs, get_counted_amount(filterset.form.cleaned_data), company=company
            )
    except RateLookupError as error:
        raise MissingRateError.from_missing_rate(error) from None
    base = company.base_currency
    return TransactionTotal(
        total.count, round_half_up(total.amount, base), total.pending_count, round_half_up(total.pending_amount, base)
    )


def get_counted_amount(filters: Mapping[str, Any]) -> F | CombinedExpression:
    """Return the expression for what of a transaction counts in a list with these filters, in its currency."""
    if filters.get("cashPart"):
        return F("counted")
    return F("amount_value") - F("transferred_value") if filters.get("flow") else F("amount_value")


def total_in_base_currency(rows: Any, amount: Any, *, company: Company) -> TransactionTotal:
    """Convert amounts at the rate of their day and return their total in the base currency."""
    counts, totals, rates = {True: 0, False: 0}, {True: ZERO, False: ZERO}, get_rate_table()
    groups = rows.order_by().values_list("pending", "date", "amount_currency")
    for pending, day, currency, rows_of_day, value in groups.annotate(Count("id"), total=Sum(amount)):
        base_amount = convert_currency(value, source=currency, target=company.base_currency, day=day, rates=rates)
        counts[pending] += rows_of_day
        totals[pending] = MONEY_CONTEXT.add(totals[pending], base_amount)
    return TransactionTotal(sum(counts.values()), sum(totals.values(), start=ZERO), counts[True], totals[True])


@dataclass(frozen=True, slots=True)
class CurrencySums:
    """A number of transactions and their sums per currency, which are never added, and what of both is pending."""

    count: int
    amounts: list[tuple[Decimal, str]]
    latest: datetime | None = None  # the last change of any of them
    pending_count: int = 0
    pending_amounts: Sequence[tuple[Decimal, str]] = ()

    @property
    def selection_fingerprint(self) -> str:
        """The same as one token, which a confirmation form sends back to prove that nothing has changed."""
        latest = f"{self.latest.timestamp():.6f}" if self.latest else ""
        amounts = (f"{amount.normalize():f}{currency}" for amount, currency in self.amounts)
        return "_".join((str(self.count), latest, *amounts))


def sum_by_currency(rows: Any) -> CurrencySums:
    """Return the sums of all rows; one statement."""
    groups = rows.order_by("amount_currency").values_list("amount_currency")
    pending = Q(pending=True)
    sums_by_currency = list(
        groups.annotate(
            Count("id"),
            Sum("amount_value"),
            Max("last_updated_time"),
            pending_count=Count("id", filter=pending),
            pending_amount=Sum("amount_value", filter=pending),
        )
    )
    return CurrencySums(
        sum(row[1] for row in sums_by_currency),
        [(row[2], row[0]) for row in sums_by_currency],
        max((row[3] for row in sums_by_currency), default=None),
        sum(row[4] for row in sums_by_currency),
        [(row[5], row[0]) for row in sums_by_currency if row[4]],
    )


def sum_recognized_shares(filterset: TransactionFilter, *, company: Company) -> TransactionTotal:
    """Return the recognized total; each month is rounded, as in the profit and loss."""
    ids = filterset.qs.values("id")
    categorizations = Categorization.objects.for_company(company.id).filter(IdIn("transaction_id", ids))
    shares = filterset.postings.filter(IdIn("categorization_id", categorizations.values("id")))
    rows_found = Func(ArraySubquery(ids), function="cardinality")
    sums_by_month = shares.values_list("month").annotate(Sum("counted"), rows=rows_found)
    count, total = 0, ZERO
    for _, amount, rows in sums_by_month:
        count, total = rows, total + round_half_up(amount, company.base_currency)
    return TransactionTotal(count, -total if filterset.posting_conditions.get("pl_type") in EXPENSE_LINES else total)


def list_recognized_shares(filterset: TransactionFilter, *, company: Company) -> dict[UUID, Decimal]:
    """Return transaction id -> recognized amount in the filtered months, signed; they add up to the total.

    Each amount is a difference of rounded running totals of its month, so all rows are read, in two statements.
    """
    categorizations = Categorization.objects.for_company(company.id).filter(
        IdIn("transaction_id", filterset.qs.values("id"))
    )
    shares = filterset.postings.filter(IdIn("categorization_id", categorizations.values("id")))
    transaction_ids = dict(categorizations.values_list("id", "transaction_id"))
    sign = -1 if filterset.posting_conditions.get("pl_type") in EXPENSE_LINES else 1
    shares_by_transaction: dict[UUID, Decimal] = defaultdict(Decimal)
    rows = shares.order_by("month", "categorization_id").values_list("month", "categorization_id", "counted")
    for _, month_rows in groupby(rows, itemgetter(0)):
        previous_total = exact_total = ZERO
        for _, categorization_id, amount in month_rows:
            exact_total = MONEY_CONTEXT.add(exact_total, amount)
            rounded_total = round_half_up(exact_total, company.base_currency)
            shares_by_transaction[transaction_ids[categorization_id]] += sign * (rounded_total - previous_total)
            previous_total = rounded_total
    return shares_by_transaction
