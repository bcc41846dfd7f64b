"""What the transactions of a list come to: how many there are, and their amounts, by currency or in the base one."""

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any

from django.core.exceptions import EmptyResultSet
from django.db import connection
from django.db.models import Count, F, Max, Sum

from companies.models import Company
from ledger.calc.fx import MissingRate, convert
from ledger.calc.money import WIDE, round_half_up
from ledger.models import EXPENSES, Posting
from ledger.money.rates import rate_table
from ledger.recognition.by_day import UP_TO_DAY
from ledger.recognition.posting import NoRate
from ledger.transactions.filters import TransactionFilter, posting_conditions

ZERO = Decimal(0)


@dataclass(frozen=True, slots=True)
class Total:
    count: int
    amount: Decimal


def total_of(asked: TransactionFilter, *, company: Company) -> Total:
    """Of all transactions that the filters leave, whatever the page; one statement.

    Whole amounts, each at its own day's rate; where flows are asked for, what of them was not transferred; where months
    of recognition are, what of them counts there, signed as the profit and loss shows it. Raises NoRate.
    """
    posted = posting_conditions(asked.form.cleaned_data)
    amount = F("amount_value") - F("transferred_value") if asked.form.cleaned_data.get("flow") else F("amount_value")
    try:
        found = recognised(asked, posted, company=company) if posted else added_up(asked.qs, amount, company=company)
    except MissingRate as missing:
        raise NoRate.of(missing) from None
    return Total(found.count, round_half_up(found.amount, company.base_currency))


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


_RECOGNISED = """
    SELECT p.month, coalesce(sum({amount}), 0), count(DISTINCT c.transaction_id)
      FROM ({postings}) AS p
      JOIN ledger_categorization AS c ON c.company_id = %s AND c.id = p.categorization_id
      {joined}
     WHERE c.transaction_id IN ({rows})
     GROUP BY GROUPING SETS ((p.month), ())
"""
_BY_DAY = """
      JOIN ledger_transaction AS t ON t.company_id = c.company_id AND t.id = c.transaction_id
     CROSS JOIN (SELECT %s::date AS day) AS cut
"""


def recognised(asked: TransactionFilter, posted: dict[str, Any], *, company: Company) -> Total:
    """Each month is rounded, as the profit and loss shows it."""
    columns = "categorization_id", "pl_type", "month", "base_amount"
    postings = Posting.objects.of(company.id).filter(**posted).values(*columns)
    day = asked.form.cleaned_data.get("recognizedBy")
    how = {"amount": UP_TO_DAY, "joined": _BY_DAY} if day else {"amount": "p.base_amount", "joined": ""}
    try:
        (of_postings, first), (of_rows, last) = (
            each.query.sql_with_params() for each in (postings, asked.qs.values("id"))
        )
    except EmptyResultSet:
        return Total(0, ZERO)
    count, total = 0, ZERO
    with connection.cursor() as cursor:
        statement = _RECOGNISED.format(postings=of_postings, rows=of_rows, **how)
        cursor.execute(statement, [*first, company.id, *([day] if day else []), *last])
        for month, amount, rows in cursor.fetchall():
            if month is None:  # all of them
                count = rows
            else:
                total += round_half_up(amount, company.base_currency)
    return Total(count, -total if posted.get("pl_type") in EXPENSES else total)
