"""Saying what transactions were for: the parts of one, or one category for the whole of many."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from typing import Any, NamedTuple
from uuid import UUID

from django.db import connection
from django.db.models import F, Q
from django.utils.translation import gettext as _
from psycopg.types.json import Jsonb

from companies.changing import Change, changing
from companies.errors import FieldErrors, Invalid, unknown_id
from companies.models import Among, Company, Stamp, new_id
from ledger.bulk.copying import copy_rows
from ledger.bulk.statistics import gather_after
from ledger.calc.money import tax_within, too_fine
from ledger.calc.recognition import DateRule
from ledger.models import Categorization, Category, Counterparty, PlType, SplitExceedsAmount, counts_in_results
from ledger.recognition.dating import Rule, effective_rule_type, invoice_dates, needs_invoice_date, period
from ledger.recognition.posting import LINES, Part, post, post_whole
from ledger.recognition.totals import retotal
from ledger.transactions.selections import selected
from ledger.transactions.touching import touched

ROWS_AT_ONCE = 20_000  # more than the 10,000 ids of a selection, so that those take one round

COLUMNS = {
    "company_id": "uuid",
    "id": "uuid",
    "transaction_id": "uuid",
    "position": "int2",
    "category_id": "uuid",
    "counterparty_id": "uuid",
    "rule": "text",
    "rule_start_date": "date",
    "rule_end_date": "date",
    "invoice_date": "date",
    "computed_start_date": "date",
    "computed_end_date": "date",
    **dict.fromkeys(LINES, "numeric"),
    "pass_through_tax": "numeric",
    "value": "numeric",
}
GIVEN = {**COLUMNS, "source_note": "text", "run_id": "uuid", "replaced": "jsonb"}


class PlTypeNeeded(Invalid):
    """The category posts to several lines: plType says which."""

    code = "pl_type_needed"


class PlTypeNotAllowed(Invalid):
    """The category does not post to this line."""

    code = "pl_type_not_allowed"


class Whole(NamedTuple):
    """A transaction that was just stored, and the category of its whole amount."""

    transaction_id: UUID
    day: date
    amount: Decimal
    currency: str
    pending: bool
    category_id: UUID
    pl_type: str
    counterparty_id: UUID | None


def line_of(pl_types: Sequence[str], pl_type: str | None, *, pointer: str = "#/plType") -> str:
    """The line a whole amount goes to: the one asked for, or the category's only one.

    Raises PlTypeNeeded, PlTypeNotAllowed.
    """
    if pl_type is None:
        if len(pl_types) != 1:
            raise PlTypeNeeded(pointer=pointer)
        return pl_types[0]
    if pl_type not in pl_types:
        raise PlTypeNotAllowed(pointer=pointer)
    return pl_type


def categorize_new(*, company: Company, rows: Iterable[Whole]) -> int:
    """Gives the whole amount of transactions that this database transaction has just stored to one category each.

    For imports. The caller has checked the ids and chosen the lines (``line_of``), and has stored the transactions with
    ``categorized_value = amount_value``: they are not touched here. The rule is transactionDate. Two statements, and
    one for the rates, whatever the number of rows; returns it. Raises NoRate.
    """
    wholes = list(rows)
    ids = [new_id() for _ in wholes]
    copy_rows("ledger_categorization", COLUMNS, (new_row(company, *each) for each in zip(ids, wholes, strict=True)))
    post((part_of(*each) for each in zip(ids, wholes, strict=True) if not each[1].pending), company=company)
    return len(wholes)


def new_row(company: Company, part_id: UUID, whole: Whole) -> tuple[Any, ...]:
    """The values of COLUMNS for a whole amount by transaction date."""
    lines = (whole.amount if line == whole.pl_type else None for line in LINES)
    return (
        company.id,
        part_id,
        whole.transaction_id,
        0,
        whole.category_id,
        whole.counterparty_id,
        Rule().type,
        None,
        None,
        None,
        whole.day,
        whole.day,
        *lines,
        None,
        whole.amount,
    )


def part_of(part_id: UUID, whole: Whole) -> Part:
    return Part(
        id=part_id,
        category_id=whole.category_id,
        rule=Rule().type,
        start=whole.day,
        end=whole.day,
        day=whole.day,
        currency=whole.currency,
        lines=((whole.pl_type, whole.amount),),
    )


# ---------------------------------------------------------------------------------------------- many at once


@dataclass(frozen=True, slots=True)
class Choice:
    """What a transaction is for: all of it but the tax, which is an amount or a percentage of what it is added to."""

    category_id: UUID
    pl_type: str
    counterparty_id: UUID | None = None
    rule: Rule = field(default_factory=Rule)
    pass_through_tax: Decimal | None = None
    tax_percent: Decimal | None = None
    source_note: str | None = None


class Fact(NamedTuple):
    """What categorizing needs to know of a transaction."""

    id: UUID
    day: date
    amount: Decimal
    currency: str
    linked: Decimal
    counts: bool

    @property
    def rest(self) -> Decimal:
        """What is not a leg of a transfer."""
        return self.amount - self.linked


def categorize(
    *,
    company: Company,
    stamp: Stamp,
    selection: dict[str, Any],
    category_id: UUID,
    pl_type: str | None = None,
    counterparty: tuple[UUID, str | None] | None = None,
    rule: Rule | None = None,
    pass_through_tax: Decimal | None = None,
) -> int:
    """Give the whole amount of each selected transaction to one category; what they were for before is forgotten.

    Legs of transfers stay, and the category gets the rest. Returns how many transactions got a part. A constant number
    of statements for as many as a selection names. Raises what ``selected`` raises, FieldErrors, PlTypeNeeded,
    PlTypeNotAllowed, SplitExceedsAmount, NoRate, PeriodTooLong.
    """
    with changing(company, stamp=stamp) as change:
        # A transaction that is all legs of transfers has nothing left to give.
        rows = selected(company, selection).filter(~Q(transferred_value=F("amount_value")) | Q(transferred_value=0))
        choice = Choice(
            category_id=category_id,
            pl_type=line_of(pl_types_of(company, category_id), pl_type),
            counterparty_id=checked_counterparty(company, counterparty),
            rule=rule or Rule(),
            pass_through_tax=pass_through_tax,
        )
        given: list[UUID] = []
        if is_plain(company, choice):
            for chunk in in_chunks(rows, "id"):
                ids = [row_id for (row_id,) in chunk]
                give_whole(change, ids, choice)
                given += ids
        else:
            for facts in facts_of(rows):
                give(change, [(fact, choice) for fact in facts])
                given += [fact.id for fact in facts]
        affected = len(given)
        if affected:
            gather_after("ledger_categorization", "ledger_posting", rows=affected, company_id=company.id)
            after = {"affected": affected, "category_id": str(category_id), "pl_type": choice.pl_type}
            touched(change, change.record_many("transactions.categorized", "transaction", after=after), given)
    return affected


def is_plain(company: Company, choice: Choice) -> bool:
    """Whether the choice gives each transaction one amount on its own day, as ``give_whole`` does."""
    kind = effective_rule_type(choice.rule, **revenue_of(company, choice))
    return kind == DateRule.TRANSACTION_DATE and not choice.pass_through_tax and not choice.tax_percent


_GIVE_WHOLE = """
    INSERT INTO ledger_categorization (
        company_id, id, transaction_id, position, category_id, counterparty_id, rule, rule_start_date, rule_end_date,
        invoice_date, computed_start_date, computed_end_date, {pl_type}, pass_through_tax, value, source_note)
    SELECT t.company_id, part.id, t.id, 0, %(category)s, %(counterparty)s, %(rule)s, %(start)s, %(end)s,
           %(invoice_date)s, t.date, t.date, t.amount_value - t.transferred_value, %(tax)s,
           t.amount_value - t.transferred_value, %(source_note)s
      FROM unnest(%(ids)s::uuid[], %(part_ids)s::uuid[]) AS part (transaction_id, id)
      JOIN ledger_transaction t ON t.company_id = %(company)s AND t.id = part.transaction_id
     ORDER BY part.id
"""


def give_whole(change: Change, ids: list[UUID], choice: Choice) -> None:
    """Give some thousand transactions one plain choice, in place of what they have besides legs of transfers.

    The same parts as ``give`` stores, made by the database. A constant number of statements. Raises NoRate.
    """
    company = change.company
    part_ids = [new_id() for _ in ids]
    delete_unlinked_parts(company, ids)
    with connection.cursor() as cursor:
        cursor.execute(
            _GIVE_WHOLE.format(pl_type=PlType(choice.pl_type).value),
            {
                "company": company.id,
                "ids": ids,
                "part_ids": part_ids,
                "category": choice.category_id,
                "counterparty": choice.counterparty_id,
                "rule": choice.rule.type,
                "start": choice.rule.start,
                "end": choice.rule.end,
                "invoice_date": choice.rule.invoice_date,
                "tax": choice.pass_through_tax,
                "source_note": choice.source_note,
            },
        )
    post_whole(
        company=company,
        part_ids=part_ids,
        transaction_ids=ids,
        category_id=choice.category_id,
        pl_type=choice.pl_type,
    )
    retotal(change, ids)


def delete_unlinked_parts(company: Company, transaction_ids: list[UUID]) -> None:
    """Delete the parts of transactions that are no legs of transfers; the database deletes their postings."""
    Categorization.objects.of(company.id).filter(Among("transaction_id", transaction_ids)).unlinked().delete()


def give(
    change: Change,
    choices: Sequence[tuple[Fact, Choice]],
    *,
    automatic: bool = False,
    run_id: UUID | None = None,
    replaced: Mapping[UUID, dict[str, Any]] | None = None,
) -> None:
    """Give some thousand transactions what is chosen for each, in place of what they have besides legs of transfers.

    ``automatic`` where no person chose; ``run_id`` is the run that can take it back, and ``replaced`` what it finds by
    the transactions then. A constant number of statements. Raises SplitExceedsAmount, FieldErrors, NoRate,
    PeriodTooLong, PeriodOutOfRange.
    """
    company = change.company
    ids = [fact.id for fact, _ in choices]
    dated = [fact.id for fact, choice in choices if needs_invoice_date(choice.rule, **revenue_of(company, choice))]
    known = invoice_dates(company_id=company.id, transaction_ids=dated) if dated else {}
    parts, rows = [], []
    for fact, choice in choices:
        tax = tax_of(fact, choice)
        start, end = period(
            choice.rule,
            day=fact.day,
            known_invoice_date=known.get(fact.id),
            **revenue_of(company, choice),
        )
        lines = ((choice.pl_type, fact.rest - (tax or 0)),)
        part = Part(new_id(), choice.category_id, choice.rule.type, start, end, fact.day, fact.currency, lines)
        before = (replaced or {}).get(fact.id)
        rows.append((*stored_row(company, fact, part, choice, tax), run_id, Jsonb(before) if before else None))
        if fact.counts:
            parts.append(part)
    delete_unlinked_parts(company, ids)
    copy_rows("ledger_categorization", GIVEN, rows)
    post(parts, company=company)
    retotal(change, ids, automatic=automatic)


def revenue_of(company: Company, choice: Choice) -> dict[str, bool]:
    """What ``period`` asks of revenue: whether the company counts it by invoice, and whether the choice is revenue."""
    return {
        "moves_revenue": company.pl_recognize_revenue_on_invoice,
        "has_revenue": choice.pl_type == PlType.REVENUE,
    }


def tax_of(fact: Fact, choice: Choice) -> Decimal | None:
    """The tax passed through in one transaction. Raises FieldErrors and SplitExceedsAmount."""
    if choice.tax_percent:
        return tax_within(fact.rest, choice.tax_percent, fact.currency)
    tax = choice.pass_through_tax
    if not tax:
        return tax
    if tax * fact.amount < 0:
        raise FieldErrors([("#/passThroughTax", "wrong_sign", _("Must have the sign of the transactions."))])
    if too_fine(tax, fact.currency):
        detail = _("{currency} has fewer decimals.").format(currency=fact.currency)
        raise FieldErrors([("#/passThroughTax", "too_many_decimals", detail)])
    if abs(tax) > abs(fact.rest):
        raise SplitExceedsAmount
    return tax


def stored_row(company: Company, fact: Fact, part: Part, choice: Choice, tax: Decimal | None) -> tuple[Any, ...]:
    """The values of GIVEN, but for the run."""
    values = dict(part.lines)
    return (
        *(company.id, part.id, fact.id, 0, part.category_id, choice.counterparty_id),
        *(choice.rule.type, choice.rule.start, choice.rule.end, choice.rule.invoice_date, part.start, part.end),
        *(values.get(line) for line in LINES),
        *(tax, fact.rest, choice.source_note),
    )


def facts_of(rows: Any) -> Iterator[list[Fact]]:
    """What is known of the transactions, in the order of their ids, some thousand at a time."""
    columns = ("id", "date", "amount_value", "amount_currency", "transferred_value", "pending", "source")
    for chunk in in_chunks(rows, *columns):
        yield [Fact(*row[:5], counts_in_results(pending=row[5], source=row[6])) for row in chunk]  # type: ignore[call-arg]


def in_chunks(rows: Any, *columns: str) -> Iterator[list[tuple[Any, ...]]]:
    """Yield the columns of rows in the order of their ids, ROWS_AT_ONCE at a time; the first column is the id."""
    rows = rows.order_by("id").values_list(*columns)
    chunk = list(rows[:ROWS_AT_ONCE])
    while chunk:
        yield chunk
        chunk = list(rows.filter(id__gt=chunk[-1][0])[:ROWS_AT_ONCE]) if len(chunk) == ROWS_AT_ONCE else []


def pl_types_of(company: Company, category_id: UUID, *, pointer: str = "#/categoryId") -> list[str]:
    category = Category.objects.of(company.id).filter(id=category_id).first()
    if category is None:
        raise unknown_id(pointer)
    return category.pl_types


def checked_counterparty(
    company: Company, given: tuple[UUID, str | None] | None, *, pointer: str = "#/counterparty"
) -> UUID | None:
    if given is None:
        return None
    found = Counterparty.objects.of(company.id).filter(id=given[0]).first()
    if found is None:
        raise unknown_id(f"{pointer}/id")
    if given[1] not in (None, found.type):
        raise FieldErrors([(f"{pointer}/type", "wrong_type", _("It is a {type}.").format(type=found.type))])
    return found.id
