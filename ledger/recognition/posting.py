"""From categorized parts to the profit and loss: each line of a part, spread over the months it belongs to.

Postings are derived. They are written here and nowhere else, for every part that counts (Categorization.counted), and
the database adds them up by month, line and category.
"""

from collections.abc import Iterable, Iterator, Sequence
from datetime import date
from decimal import Decimal
from typing import Any, NamedTuple, Self
from uuid import UUID

from django.db import connection
from django.db.models import F
from django.utils.translation import gettext as _

from companies.errors import Conflict
from companies.models import Among, Company
from ledger.bulk.copying import copy_rows
from ledger.calc.fx import MissingRate, RateTable, convert
from ledger.calc.money import WIDE
from ledger.calc.recognition import DateRule, spread
from ledger.models import Categorization, PlType, Posting, Source, Transaction
from ledger.money.rates import rate_table

LINES = tuple(PlType.values)
PRECISION = Decimal("1E-10")  # of base amounts; they are rounded once more, when they are shown
ROWS_AT_ONCE = 20_000

COLUMNS = {
    "company_id": "uuid",
    "categorization_id": "uuid",
    "pl_type": "text",
    "month": "date",
    "category_id": "uuid",
    "amount": "numeric",
    "base_amount": "numeric",
}


class NoRate(Conflict):
    """There is no exchange rate for a currency; it is never taken for 1."""

    code = "rate_missing"

    @classmethod
    def of(cls, missing: MissingRate) -> Self:
        """Which currency it is, to whoever reads it."""
        return cls(_("There is no exchange rate for {currency}.").format(currency=missing.currency))


class Part(NamedTuple):
    """What the postings of a part depend on."""

    id: UUID
    category_id: UUID
    rule: str
    start: date
    end: date
    day: date  # of the transaction
    currency: str
    lines: tuple[tuple[str, Decimal], ...]


class Line(NamedTuple):
    """One posting: what a part adds to a P&L line in a month."""

    part_id: UUID
    pl_type: str
    month: date
    category_id: UUID
    amount: Decimal
    base_amount: Decimal


def lines_of(parts: Iterable[Part], *, base_currency: str, rates: RateTable) -> Iterator[Line]:
    """The postings of parts: spread by day, converted at the rate of the transaction's own day.

    Raises NoRate.
    """
    for part in parts:
        for pl_type, value in part.lines:
            start, end = recognised(part, pl_type)
            for month, amount in spread(value, currency=part.currency, start=start, end=end).items():
                base = in_base(amount, part=part, base_currency=base_currency, rates=rates)
                yield Line(part.id, pl_type, month, part.category_id, amount, base)


def recognised(part: Part, pl_type: str) -> tuple[date, date]:
    """The period of one line. A part by transaction date may carry an invoice's date, and that moves revenue only."""
    if part.rule == DateRule.TRANSACTION_DATE and pl_type != PlType.REVENUE:
        return part.day, part.day
    return part.start, part.end


def in_base(amount: Decimal, *, part: Part, base_currency: str, rates: RateTable) -> Decimal:
    if part.currency == base_currency:
        return amount
    try:
        value = convert(amount, source=part.currency, target=base_currency, day=part.day, rates=rates)
    except MissingRate as missing:
        raise NoRate.of(missing) from None
    return value.quantize(PRECISION, context=WIDE)


def post(parts: Iterable[Part], *, company: Company) -> None:
    """Writes the postings of parts that count and have none yet, in one statement. Raises NoRate."""
    lines = lines_of(parts, base_currency=company.base_currency, rates=rate_table())
    copy_rows("ledger_posting", COLUMNS, ((company.id, *line) for line in lines))


# Every amount by transaction date has one posting. The quotient has 40 decimals before it is rounded, so that it is the
# one of ``in_base``.
_POST_WHOLE = """
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


def post_whole(
    *, company: Company, part_ids: Sequence[UUID], transaction_ids: Sequence[UUID], category_id: UUID, pl_type: str
) -> None:
    """Write the postings of new parts that are all of their transactions but legs of transfers, by transaction date.

    ``part_ids`` are in the order of ``transaction_ids``. The same postings as ``post`` writes, made by the database in
    a third of the time; two statements. Raises NoRate.
    """
    counted = Transaction.objects.of(company.id).filter(Among("id", list(transaction_ids))).booked().without_initial()
    foreign = counted.exclude(amount_currency=company.base_currency).exclude(amount_value=F("transferred_value"))
    days = list(foreign.order_by().values_list("amount_currency", "date").distinct())
    rates = rate_table()
    try:
        pairs = [rates.pair(currency, company.base_currency, day) for currency, day in days]
    except MissingRate as missing:
        raise NoRate.of(missing) from None
    with connection.cursor() as cursor:
        cursor.execute(
            _POST_WHOLE,
            {
                "company": company.id,
                "ids": list(transaction_ids),
                "part_ids": list(part_ids),
                "category": category_id,
                "pl_type": pl_type,
                "base": company.base_currency,
                "initial": Source.INITIAL_BALANCE.value,
                "currencies": [currency for currency, _day in days],
                "days": [day for _currency, day in days],
                "targets": [target for target, _source in pairs],
                "sources": [source for _target, source in pairs],
            },
        )


def repost(*, company: Company, transaction_ids: list[UUID]) -> None:
    """Writes the postings of transactions anew, in a constant number of statements. Raises NoRate."""
    unpost(company=company, transaction_ids=transaction_ids)
    parts = Categorization.objects.of(company.id).filter(Among("transaction_id", transaction_ids))
    post(counted_parts(parts), company=company)


def unpost(*, company: Company, transaction_ids: list[UUID]) -> None:
    """Takes the postings of transactions away."""
    with connection.cursor() as cursor:
        cursor.execute(
            "DELETE FROM ledger_posting p USING ledger_categorization c "
            "WHERE c.company_id = %(company)s AND c.transaction_id = ANY(%(ids)s::uuid[]) "
            "AND p.company_id = %(company)s AND p.categorization_id = c.id",
            {"company": company.id, "ids": transaction_ids},
        )


def counted_parts(rows: Any, *, most: int | None = None) -> list[Part]:
    """The parts among categorizations that count, as plain values; one query."""
    found = rows.counted().values_list(
        "id",
        "category_id",
        "rule",
        "computed_start_date",
        "computed_end_date",
        "transaction__date",
        "transaction__amount_currency",
        *LINES,
    )
    return [Part(*row[:7], lines_from(row[7:])) for row in found[:most]]  # type: ignore[call-arg]


def lines_from(values: Iterable[Decimal | None]) -> tuple[tuple[str, Decimal], ...]:
    """(line, value) of each line that a part has, from its seven columns."""
    return tuple((line, value) for line, value in zip(LINES, values, strict=True) if value is not None)


# ---------------------------------------------------------------------------------------------- proof


def rebuild(company_id: UUID) -> None:
    """Writes every posting of a company anew. Raises NoRate."""
    company = Company.objects.get(id=company_id)
    Posting.objects.of(company_id).delete()
    for parts in in_chunks(company_id):
        post(parts, company=company)


def differences(company_id: UUID) -> list[str]:
    """What differs between the stored postings and months and those that follow from the facts; empty if nothing."""
    company, rates = Company.objects.get(id=company_id), rate_table()
    found: list[str] = []
    seen = 0
    for parts in in_chunks(company_id):
        expected = {line[:4]: line for line in lines_of(parts, base_currency=company.base_currency, rates=rates)}
        stored = stored_lines(company_id, [part.id for part in parts])
        seen += len(stored)
        found += [
            f"posting {key[0]} {key[1]} {key[2]:%Y-%m}: {stored.get(key)} in place of {expected.get(key)}"
            for key in sorted(expected.keys() | stored.keys())
            if expected.get(key) != stored.get(key)
        ]
    stray = Posting.objects.of(company_id).count() - seen
    if stray:
        found.append(f"{stray} postings of parts that do not count")
    return found + wrong_months(company_id)


def in_chunks(company_id: UUID) -> Iterator[list[Part]]:
    """All parts that count, some thousand at a time, in the order of their ids."""
    rows = Categorization.objects.of(company_id).order_by("id")
    parts = counted_parts(rows, most=ROWS_AT_ONCE)
    while parts:
        yield parts
        parts = counted_parts(rows.filter(id__gt=parts[-1].id), most=ROWS_AT_ONCE)


def stored_lines(company_id: UUID, part_ids: list[UUID]) -> dict[tuple[Any, ...], Line]:
    found = Posting.objects.of(company_id).filter(categorization_id__in=part_ids)
    lines = (Line(*row) for row in found.values_list(*list(COLUMNS)[1:]))
    return {line[:4]: line for line in lines}


def wrong_months(company_id: UUID) -> list[str]:
    """Months whose stored sum is not the sum of their postings."""
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
            f"month {month:%Y-%m} {pl_type} of category {category_id}: {stored} in place of {posted}"
            for month, pl_type, category_id, stored, posted in cursor.fetchall()
        ]
