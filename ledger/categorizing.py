"""Saying what transactions were for: the parts of one, or one category for the whole of many."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Any, NamedTuple
from uuid import UUID

from companies.errors import Conflict, FieldErrors, Invalid, unknown_id
from companies.models import AuditEntry, Company, Stamp, new_id
from ledger.calc.money import too_fine
from ledger.copying import copy_rows
from ledger.dating import Rule, invoice_dates, period
from ledger.models import Categorization, Category, Counterparty, PlType, counts_in_results
from ledger.posting import LINES, Part, post, unpost
from ledger.statistics import gather_after
from ledger.totals import retotal

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


class SplitExceedsAmount(Invalid):
    """The categorizations add up to more than the transaction."""

    code = "split_exceeds_amount"


class PlTypeNeeded(Invalid):
    """The category posts to several lines: plType says which."""

    code = "pl_type_needed"


class PlTypeNotAllowed(Invalid):
    """The category does not post to this line."""

    code = "pl_type_not_allowed"


class TransactionLinked(Conflict):
    """A leg of a transfer stays as it is until it is unlinked."""

    code = "transaction_linked"


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
    one for the rates, whatever the number of rows; returns it. Raises RateMissing.
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
    """What many transactions are for."""

    category_id: UUID
    pl_type: str
    counterparty_id: UUID | None
    rule: Rule
    pass_through_tax: Decimal | None


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
    rows: Any,
    stamp: Stamp,
    category_id: UUID,
    pl_type: str | None = None,
    counterparty: tuple[UUID, str | None] | None = None,
    rule: Rule | None = None,
    pass_through_tax: Decimal | None = None,
) -> int:
    """Gives the whole amount of each of the transactions to one category; what they were for before is forgotten.

    Legs of transfers stay, and the category gets the rest. Returns how many transactions got a part. A constant number
    of statements for as many as a selection names. Raises FieldErrors, PlTypeNeeded, PlTypeNotAllowed,
    SplitExceedsAmount, RateMissing, PeriodTooLong.
    """
    choice = Choice(
        category_id=category_id,
        pl_type=line_of(pl_types_of(company, category_id), pl_type),
        counterparty_id=checked_counterparty(company, counterparty),
        rule=rule or Rule(),
        pass_through_tax=pass_through_tax,
    )
    affected = 0
    for facts in locked(rows):
        affected += categorize_some(company=company, facts=facts, choice=choice, stamp=stamp)
    if not affected:
        return 0
    gather_after("ledger_categorization", "ledger_posting", rows=affected)
    AuditEntry.objects.record(
        stamp,
        company_id=company.id,
        action="transactions.categorized",
        entity_type="transaction",
        entity_id=None,
        after={"affected": affected, "category_id": str(category_id), "pl_type": choice.pl_type},
    )
    return affected


def categorize_some(*, company: Company, facts: list[Fact], choice: Choice, stamp: Stamp) -> int:
    """The same for some thousand transactions that are locked."""
    facts = [fact for fact in facts if fact.rest or not fact.linked]
    ids = [fact.id for fact in facts]
    known = invoice_dates(company_id=company.id, transaction_ids=ids)
    parts, rows = [], []
    for fact in facts:
        lines = ((choice.pl_type, fact.rest - tax_of(fact, choice.pass_through_tax)),)
        start, end = period(
            choice.rule,
            day=fact.day,
            known_invoice_date=known.get(fact.id),
            moves_revenue=company.pl_recognize_revenue_on_invoice,
            has_revenue=choice.pl_type == PlType.REVENUE,
        )
        part = Part(new_id(), choice.category_id, choice.rule.type, start, end, fact.day, fact.currency, lines)
        rows.append(stored_row(company, fact, part, choice))
        if fact.counts:
            parts.append(part)
    unpost(company=company, transaction_ids=ids)
    Categorization.objects.of(company.id).filter(transaction_id__in=ids).unlinked().delete()
    copy_rows("ledger_categorization", COLUMNS, rows)
    post(parts, company=company)
    retotal(company=company, transaction_ids=ids, stamp=stamp)
    return len(facts)


def tax_of(fact: Fact, tax: Decimal | None) -> Decimal:
    """The tax passed through in one transaction. Raises FieldErrors and SplitExceedsAmount."""
    if not tax:
        return Decimal(0)
    if tax * fact.amount < 0:
        raise FieldErrors([("#/passThroughTax", "wrong_sign", "Must have the sign of the transactions.")])
    if too_fine(tax, fact.currency):
        raise FieldErrors([("#/passThroughTax", "too_many_decimals", f"{fact.currency} has fewer decimals.")])
    if abs(tax) > abs(fact.rest):
        raise SplitExceedsAmount
    return tax


def stored_row(company: Company, fact: Fact, part: Part, choice: Choice) -> tuple[Any, ...]:
    """The values of COLUMNS."""
    values = dict(part.lines)
    return (
        *(company.id, part.id, fact.id, 0, part.category_id, choice.counterparty_id),
        *(choice.rule.type, choice.rule.start, choice.rule.end, choice.rule.invoice_date, part.start, part.end),
        *(values.get(line) for line in LINES),
        *(choice.pass_through_tax, fact.rest),
    )


def locked(rows: Any) -> Iterator[list[Fact]]:
    """The transactions in the order of their ids, locked, some thousand at a time."""
    rows = rows.order_by("id").select_for_update()
    columns = ("id", "date", "amount_value", "amount_currency", "transferred_value", "pending", "source")
    found = rows.values_list(*columns)[:ROWS_AT_ONCE]
    while facts := [Fact(*row[:5], counts_in_results(pending=row[5], source=row[6])) for row in found]:  # type: ignore[call-arg]
        yield facts
        found = rows.filter(id__gt=facts[-1].id).values_list(*columns)[:ROWS_AT_ONCE]


def pl_types_of(company: Company, category_id: UUID) -> list[str]:
    category = Category.objects.of(company.id).filter(id=category_id).first()
    if category is None:
        raise unknown_id("#/categoryId")
    return category.pl_types


def checked_counterparty(company: Company, given: tuple[UUID, str | None] | None) -> UUID | None:
    if given is None:
        return None
    found = Counterparty.objects.of(company.id).filter(id=given[0]).first()
    if found is None:
        raise unknown_id("#/counterparty/id")
    if given[1] not in (None, found.type):
        raise FieldErrors([("#/counterparty/type", "wrong_type", f"It is a {found.type}.")])
    return found.id
