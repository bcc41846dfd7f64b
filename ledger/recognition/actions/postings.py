"""Postings: the amounts of categorizations by P&L line, spread over the months they belong to.

Postings are derived. Only this module writes them, for every categorization that counts
(Categorization.counted), and the database sums them by month, line and category.
"""

from collections.abc import Iterable, Iterator, Sequence
from datetime import date
from decimal import Decimal
from typing import Any, NamedTuple, Self
from uuid import UUID

from django.db import connection
from django.db.models import F
from django.utils.translation import gettext as _

from companies.errors import ConflictError
from companies.models import Company, IdIn
from ledger.bulk.copy import copy_rows
from ledger.calc.recognition import DateRule, spread_amount
from ledger.models import Categorization, PlType, Posting, Source, Transaction
from ledger.money.calc.fx import RateLookupError, RateTable, convert_currency
from ledger.money.calc.money import MONEY_CONTEXT
from ledger.money.rates import get_rate_table

PL_TYPES = tuple(PlType.values)
BASE_AMOUNT_PRECISION = Decimal("1E-10")  # of base amounts; they are rounded once more, when they are shown
POSTING_CHUNK_ROWS = 20_000

POSTING_COLUMN_TYPES = {
    "company_id": "uuid",
    "categorization_id": "uuid",
    "pl_type": "text",
    "month": "date",
    "category_id": "uuid",
    "amount": "numeric",
    "base_amount": "numeric",
}


class MissingRateError(ConflictError):
    """An exchange rate is missing. Ask the operator to load exchange rates."""

    code = "rate_missing"

    @classmethod
    def from_missing_rate(cls, missing: RateLookupError) -> Self:
        """Return the error with the currency that has no rate."""
        return cls(
            _("No exchange rate for {currency}. Ask the operator to load exchange rates.").format(
                currency=missing.currency
            )
        )


class PostingInput(NamedTuple):
    """What the postings of a categorization depend on."""

    id: UUID
    category_id: UUID
    rule: str
    start: date
    end: date
    day: date  # of the transaction
    currency: str
    lines: tuple[tuple[str, Decimal], ...]
    recognized_from: date | None = None  # first day of the month that recognizes what lies before it


class PostingRow(NamedTuple):
    """One posting: what a categorization adds to a P&L line in a month."""

    part_id: UUID
    pl_type: str
    month: date
    category_id: UUID
    amount: Decimal
    base_amount: Decimal


def build_posting_rows(
    posting_inputs: Iterable[PostingInput], *, base_currency: str, rates: RateTable
) -> Iterator[PostingRow]:
    """Yield the postings of categorizations: spread by day, converted at the rate of the transaction's day.

    Raises MissingRateError.
    """
    for posting_input in posting_inputs:
        for pl_type, value in posting_input.lines:
            start, end = get_recognition_period(posting_input, pl_type)
            months = spread_amount(value, currency=posting_input.currency, start=start, end=end)
            for month, amount in move_amounts_to_open_month(months, posting_input.recognized_from).items():
                base_amount = convert_to_base_currency(
                    amount, posting_input=posting_input, base_currency=base_currency, rates=rates
                )
                yield PostingRow(posting_input.id, pl_type, month, posting_input.category_id, amount, base_amount)


def move_amounts_to_open_month(amount_by_month: dict[date, Decimal], first_month: date | None) -> dict[date, Decimal]:
    """Add amounts of earlier months to those of `first_month`; None moves nothing.

    >>> move_amounts_to_open_month({date(2026, 3, 1): Decimal(2), date(2026, 4, 1): Decimal(3)}, date(2026, 4, 1))
    {datetime.date(2026, 4, 1): Decimal('5')}
    """
    if first_month is None:
        return amount_by_month
    moved: dict[date, Decimal] = {}
    for month, amount in amount_by_month.items():
        recognition_month = max(month, first_month)
        moved[recognition_month] = moved.get(recognition_month, Decimal(0)) + amount
    return {month: amount for month, amount in moved.items() if amount}


def get_recognition_period(posting_input: PostingInput, pl_type: str) -> tuple[date, date]:
    """Return the period of one P&L line. An invoice date moves only the revenue of a rule by transaction date."""
    if posting_input.rule == DateRule.TRANSACTION_DATE and pl_type != PlType.REVENUE:
        return posting_input.day, posting_input.day
    return posting_input.start, posting_input.end


def convert_to_base_currency(
    amount: Decimal, *, posting_input: PostingInput, base_currency: str, rates: RateTable
) -> Decimal:
    """Return the amount in the base currency, to ten decimals. Raises MissingRateError."""
    if posting_input.currency == base_currency:
        return amount
    try:
        value = convert_currency(
            amount, source=posting_input.currency, target=base_currency, day=posting_input.day, rates=rates
        )
    except RateLookupError as error:
        raise MissingRateError.from_missing_rate(error) from None
    return value.quantize(BASE_AMOUNT_PRECISION, context=MONEY_CONTEXT)


def write_postings(posting_inputs: Iterable[PostingInput], *, company: Company) -> None:
    """Write the postings of categorizations that have none yet, in one statement. Raises MissingRateError."""
    posting_rows = build_posting_rows(posting_inputs, base_currency=company.base_currency, rates=get_rate_table())
    copy_rows("ledger_posting", POSTING_COLUMN_TYPES, ((company.id, *posting_row) for posting_row in posting_rows))


# Every amount by transaction date has one posting. The quotient has 40 decimals before it is rounded, so that
# it equals the one of ``convert_to_base_currency``.
_INSERT_PLAIN_POSTINGS = """
    INSERT INTO ledger_posting (company_id, categorization_id, pl_type, month, category_id, amount, base_amount)
    SELECT t.company_id, part.id, %(pl_type)s, date_trunc('month', t.date)::date, %(category)s, whole.amount,
           CASE WHEN t.amount_currency = %(base)s THEN whole.amount
                ELSE round((whole.amount * rate.target)::numeric(80, 40) / rate.source, 10) END
      FROM unnest(%(ids)s::uuid[], %(part_ids)s::uuid[]) AS part (transaction_id, id)
      JOIN ledger_transaction t ON t.company_id = %(company)s AND t.id = part.transaction_id
     CROSS JOIN LATERAL (SELECT t.amount_value - t.transferred_value AS amount) AS whole
      LEFT JOIN unnest(%(currencies)s::text[], %(days)s::date[], %(targets)s::numeric[], %(sources)s::numeric[])
             AS rate (currency, day, target, source) ON rate.currency = t.amount_currency AND rate.day = t.date
     WHERE NOT t.pending AND t.source <> %(initial)s AND whole.amount <> 0
     ORDER BY part.id
"""


def write_plain_postings(
    *,
    company: Company,
    categorization_ids: Sequence[UUID],
    transaction_ids: Sequence[UUID],
    category_id: UUID,
    pl_type: str,
) -> None:
    """Write the postings of new categorizations of whole amounts by transaction date, without transfer legs.

    ``categorization_ids`` are in the order of ``transaction_ids``. The same postings as ``write_postings``
    writes, built by the database in a third of the time; two statements. Raises MissingRateError.
    """
    counted_transactions = (
        Transaction.objects.for_company(company.id)
        .filter(IdIn("id", list(transaction_ids)))
        .booked()
        .without_initial_balances()
    )
    with connection.cursor() as cursor:
        cursor.execute(
            _INSERT_PLAIN_POSTINGS,
            {
                "company": company.id,
                "ids": list(transaction_ids),
                "part_ids": list(categorization_ids),
                "category": category_id,
                "pl_type": pl_type,
                "base": company.base_currency,
                "initial": Source.INITIAL_BALANCE.value,
                **find_rates_of_transactions(counted_transactions, company=company),
            },
        )


def find_rates_of_transactions(transactions: Any, *, company: Company) -> dict[str, list[Any]]:
    """Return the rates of foreign transactions' days, as parallel arrays for `unnest`. Raises MissingRateError."""
    foreign_transactions = transactions.exclude(amount_currency=company.base_currency).exclude(
        amount_value=F("transferred_value")
    )
    currency_days = list(foreign_transactions.order_by().values_list("amount_currency", "date").distinct())
    rates = get_rate_table()
    try:
        rate_pairs = [rates.get_rate_pair(currency, company.base_currency, day) for currency, day in currency_days]
    except RateLookupError as error:
        raise MissingRateError.from_missing_rate(error) from None
    return {
        "currencies": [currency for currency, _ in currency_days],
        "days": [day for _, day in currency_days],
        "targets": [target for target, _ in rate_pairs],
        "sources": [source for _, source in rate_pairs],
    }


def rebuild_postings(*, company: Company, transaction_ids: list[UUID]) -> None:
    """Rebuild the postings of transactions, in a constant number of statements. Raises MissingRateError."""
    delete_postings(company=company, transaction_ids=transaction_ids)
    categorizations = Categorization.objects.for_company(company.id).filter(IdIn("transaction_id", transaction_ids))
    write_postings(list_posting_inputs(categorizations), company=company)


def delete_postings(*, company: Company, transaction_ids: list[UUID]) -> None:
    """Delete the postings of transactions."""
    with connection.cursor() as cursor:
        cursor.execute(
            "DELETE FROM ledger_posting p USING ledger_categorization c "
            "WHERE c.company_id = %(company)s AND c.transaction_id = ANY(%(ids)s::uuid[]) "
            "AND p.company_id = %(company)s AND p.categorization_id = c.id",
            {"company": company.id, "ids": transaction_ids},
        )


def list_posting_inputs(rows: Any, *, limit: int | None = None) -> list[PostingInput]:
    """Return what postings depend on for the categorizations that count; one query."""
    values = rows.counted_in_results().values_list(
        "id",
        "category_id",
        "rule",
        "computed_start_date",
        "computed_end_date",
        "transaction__date",
        "transaction__amount_currency",
        "recognized_from",
        *PL_TYPES,
    )
    return [PostingInput(*row[:7], list_amounts_by_pl_type(row[8:]), row[7]) for row in values[:limit]]  # type: ignore[call-arg]


def list_amounts_by_pl_type(values: Iterable[Decimal | None]) -> tuple[tuple[str, Decimal], ...]:
    """Return (P&L line, amount) of each line that a categorization has, from its seven columns."""
    return tuple((pl_type, value) for pl_type, value in zip(PL_TYPES, values, strict=True) if value is not None)


# ---------------------------------------------------------------------------------------------- rebuild and
# verification


def rebuild_company_postings(company_id: UUID) -> None:
    """Rebuild all postings of a company. Raises MissingRateError."""
    company = Company.objects.get(id=company_id)
    Posting.objects.for_company(company_id).delete()
    for posting_inputs in iterate_posting_input_chunks(company_id):
        write_postings(posting_inputs, company=company)


def find_posting_differences(company_id: UUID) -> list[str]:
    """Return where stored postings and monthly results differ from recomputed ones; empty if they agree."""
    company, rates = Company.objects.get(id=company_id), get_rate_table()
    differences: list[str] = []
    stored_count = 0
    for posting_inputs in iterate_posting_input_chunks(company_id):
        expected_rows = {
            posting_row[:4]: posting_row
            for posting_row in build_posting_rows(posting_inputs, base_currency=company.base_currency, rates=rates)
        }
        stored_rows = load_posting_rows(company_id, [posting_input.id for posting_input in posting_inputs])
        stored_count += len(stored_rows)
        differences += [
            f"posting {key[0]} {key[1]} {key[2]:%Y-%m}: {stored_rows.get(key)} in place of {expected_rows.get(key)}"
            for key in sorted(expected_rows.keys() | stored_rows.keys())
            if expected_rows.get(key) != stored_rows.get(key)
        ]
    stray_count = Posting.objects.for_company(company_id).count() - stored_count
    if stray_count:
        differences.append(f"{stray_count} postings of parts that do not count")
    return differences + find_month_result_differences(company_id)


def iterate_posting_input_chunks(company_id: UUID) -> Iterator[list[PostingInput]]:
    """Yield all categorizations that count in the order of their ids, POSTING_CHUNK_ROWS at a time."""
    rows = Categorization.objects.for_company(company_id).order_by("id")
    posting_inputs = list_posting_inputs(rows, limit=POSTING_CHUNK_ROWS)
    while posting_inputs:
        yield posting_inputs
        posting_inputs = list_posting_inputs(rows.filter(id__gt=posting_inputs[-1].id), limit=POSTING_CHUNK_ROWS)


def load_posting_rows(company_id: UUID, categorization_ids: list[UUID]) -> dict[tuple[Any, ...], PostingRow]:
    """Return the stored postings of categorizations by their key."""
    postings = Posting.objects.for_company(company_id).filter(categorization_id__in=categorization_ids)
    posting_rows = (PostingRow(*row) for row in postings.values_list(*list(POSTING_COLUMN_TYPES)[1:]))
    return {posting_row[:4]: posting_row for posting_row in posting_rows}


def find_month_result_differences(company_id: UUID) -> list[str]:
    """Return the months whose stored sum differs from the sum of their postings."""
    with connection.cursor() as cursor:
        cursor.execute(
            """
            SELECT month, pl_type, category_id, stored.base_amount, posted.base_amount
              FROM (SELECT month, pl_type, category_id, base_amount, count FROM ledger_monthresult
                     WHERE company_id = %(company)s AND (base_amount <> 0 OR count <> 0)) AS stored
              FULL JOIN (SELECT month, pl_type, category_id, sum(base_amount) AS base_amount, count(*) AS count
                           FROM ledger_posting WHERE company_id = %(company)s
                          GROUP BY month, pl_type, category_id) AS posted
                   USING (month, pl_type, category_id)
             WHERE stored.base_amount IS DISTINCT FROM posted.base_amount
                OR stored.count IS DISTINCT FROM posted.count
             ORDER BY month, pl_type, category_id
            """,
            {"company": company_id},
        )
        return [
            f"month {month:%Y-%m} {pl_type} of category {category_id}: {stored_amount} in place of {posted_amount}"
            for month, pl_type, category_id, stored_amount, posted_amount in cursor.fetchall()
        ]
