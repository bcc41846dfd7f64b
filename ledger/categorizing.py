"""Saying what transactions were for: the parts of one, or one category for the whole of many."""

from collections.abc import Iterable, Sequence
from datetime import date
from decimal import Decimal
from typing import Any, NamedTuple
from uuid import UUID

from companies.errors import Conflict, Invalid
from companies.models import Company, new_id
from ledger.copying import copy_rows
from ledger.dating import Rule
from ledger.posting import LINES, Part, post

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
