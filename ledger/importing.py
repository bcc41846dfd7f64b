"""Importing transactions: one pass of checks against the company, one COPY, one transaction.

A row is a duplicate by its externalId where it has one; otherwise, when asked, by account, date, amount, currency and
text, counted with multiplicity: two equal coffees stay two, and the same file sent twice adds nothing.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from itertools import islice
from typing import Any
from uuid import UUID

from django.db import connection

from companies.errors import FieldErrors
from companies.models import AuditEntry, Company, Currency, Stamp, new_id
from ledger.calc.money import minor_units
from ledger.import_body import Item, Request
from ledger.models import Account, ImportBatch, Source, Transaction

MOST_ERRORS = 1000
ROWS_A_WRITE = 2000

DECIMALS = {currency: minor_units(currency) for currency in Currency.values}
UNREADABLE = {"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r"}  # as COPY's text format writes them
ESCAPES = str.maketrans(UNREADABLE)

Error = tuple[str, str, str]


@dataclass(slots=True)
class Outcome:
    """What an import did, or would do."""

    count: int = 0
    skipped_before_data_start: int = 0
    duplicates: int = 0
    errors: list[Error] = field(default_factory=list)
    batch: ImportBatch | None = None
    dry_run: bool = False


@dataclass(slots=True)
class Row:
    """An accepted item with what the company adds to it."""

    index: int
    item: Item
    account_id: str
    currency: str


def import_transactions(*, company: Company, stamp: Stamp, request: Request, source: str = Source.IMPORT) -> Outcome:
    """Stores the items of an import, all or none of them; with ``onError: skip`` all good ones.

    Raises FieldErrors with up to 1,000 pointers where a row is wrong and nothing may be skipped.
    """
    outcome = Outcome(dry_run=request.dry_run, errors=request.errors)
    rows = accepted(company=company, request=request, outcome=outcome)
    if outcome.errors and request.on_error == "abort":
        raise FieldErrors(outcome.errors[:MOST_ERRORS])
    rows = without_duplicates(company=company, rows=rows, request=request, outcome=outcome)
    outcome.count = len(rows)
    if request.dry_run or not rows:
        return outcome
    outcome.batch = ImportBatch.objects.create(
        company=company,
        source=source,
        count=len(rows),
        skipped_before_data_start=outcome.skipped_before_data_start,
        duplicates=outcome.duplicates,
        created_time=stamp.time,
        created_user_id=stamp.actor,
    )
    store(company=company, stamp=stamp, batch=outcome.batch, rows=rows, source=source)
    AuditEntry.objects.record(
        stamp,
        company_id=company.id,
        action="import.finished",
        entity_type="import",
        entity_id=outcome.batch.id,
        after={"count": outcome.count, "duplicates": outcome.duplicates, "errors": len(outcome.errors)},
    )
    return outcome


# ---------------------------------------------------------------------------------------------- checks


def accepted(*, company: Company, request: Request, outcome: Outcome) -> list[Row]:
    """The rows whose account, currency and amount are right; the others' errors, and a count of those too old."""
    accounts = {
        str(account_id): (str(account_id), currency)
        for account_id, currency in Account.objects.of(company.id).values_list("id", "default_currency")
    }
    start = company.data_start_date
    rows: list[Row] = []
    for index, item in enumerate(request.items):
        if item is None:
            continue
        account = accounts.get(item.account_id) or accounts.get(spelled(item.account_id))
        currency = item.amount_currency or (account[1] if account else company.base_currency)
        error = fault_of(item, known=account is not None, currency=currency)
        if error or account is None:
            name, code, detail = error or ("accountId", "unknown_id", UNKNOWN)
            outcome.errors.append((f"#/transactions/{index}/{name}", code, detail))
        elif start is not None and item.date < start:
            outcome.skipped_before_data_start += 1
        else:
            rows.append(Row(index, item, account[0], currency))
    if request.errors:
        outcome.errors.sort(key=lambda error: int(error[0].split("/")[2]))
    return rows


UNKNOWN = "There is no such record in this company."


def fault_of(item: Item, *, known: bool, currency: str) -> Error | None:
    """(field, code, detail) of the first thing that is wrong with an item, given its account and currency."""
    if not known:
        return "accountId", "unknown_id", UNKNOWN
    decimals = DECIMALS.get(currency)
    if decimals is None:
        return "amountCurrency", "invalid_choice", "Not one of the thirty currencies."
    whole, point, fraction = item.amount_value.partition(".")
    digits = whole[1:] if whole[:1] == "-" else whole
    if not (digits.isdecimal() and digits.isascii() and len(digits) <= 15):
        return "amountValue", "invalid_decimal", "Must be a string such as -1234.56."
    if point and not (fraction.isdecimal() and fraction.isascii() and len(fraction) <= 4):
        return "amountValue", "invalid_decimal", "Must be a string such as -1234.56."
    if len(fraction) > decimals:
        return "amountValue", "too_many_decimals", f"{currency} has fewer decimals."
    return None


def spelled(account_id: str) -> str:
    """An id as we print it; whatever is no UUID stays as it is."""
    try:
        return str(UUID(account_id))
    except ValueError:
        return account_id


# ---------------------------------------------------------------------------------------------- duplicates


def without_duplicates(*, company: Company, rows: list[Row], request: Request, outcome: Outcome) -> list[Row]:
    """The rows that are new. Imports that look for duplicates wait for each other, so that none is missed."""
    by_external_id = any(row.item.external_id is not None for row in rows)
    if not rows or not (by_external_id or request.duplicates == "skip"):
        return rows
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", [f"import:{company.id}"])
    known = known_external_ids(company, rows) if by_external_id else set()
    stored = stored_fingerprints(company, rows) if request.duplicates == "skip" else Counter()
    new = []
    for row in rows:
        if row.item.external_id is not None:
            name = (row.account_id, row.item.external_id)
            duplicate = name in known
            known.add(name)
        else:
            print_ = fingerprint(row)
            duplicate = stored[print_] > 0
            stored[print_] -= duplicate
        if not duplicate:
            new.append(row)
    outcome.duplicates = len(rows) - len(new)
    return new


def known_external_ids(company: Company, rows: list[Row]) -> set[tuple[str, str]]:
    """(account, external id) of those that are stored already."""
    ids = list({row.item.external_id for row in rows if row.item.external_id is not None})
    found = Transaction.objects.of(company.id).filter(external_id__in=ids).values_list("account_id", "external_id")
    return {(str(account), external_id) for account, external_id in found if external_id is not None}


def fingerprint(row: Row) -> tuple[str, date, Decimal, str, str, str]:
    item = row.item
    return (
        row.account_id,
        item.date,
        Decimal(item.amount_value),
        row.currency,
        item.from_to or "",
        item.description or "",
    )


def stored_fingerprints(company: Company, rows: list[Row]) -> Counter[Any]:
    """How often each fingerprint stands in the ledger, over the days and accounts of the rows."""
    days = [row.item.date for row in rows]
    found = Transaction.objects.of(company.id).filter(
        date__range=(min(days), max(days)), account_id__in={row.account_id for row in rows}
    )
    return Counter(
        (str(account), *rest)
        for account, *rest in found.values_list(
            "account_id", "date", "amount_value", "amount_currency", "from_to", "description"
        ).iterator(chunk_size=ROWS_A_WRITE)
    )


# ---------------------------------------------------------------------------------------------- storing

COLUMNS = (
    "company_id, id, account_id, date, from_to, description, amount_value, amount_currency, notes, pending, "
    "external_id, import_batch_id, source, created_user_id, last_updated_user_id, created_time, last_updated_time, "
    "categorizations_auto_assigned, exclude_from_auto_categorization, categorized_value, transferred_value"
)


def store(*, company: Company, stamp: Stamp, batch: ImportBatch, rows: list[Row], source: str) -> list[UUID]:
    """One COPY of all rows; returns their ids in order."""
    ids: list[UUID] = []
    actor = "\\N" if stamp.actor is None else stamp.actor
    tail = f"\t{batch.id}\t{source}\t{actor}\t{actor}\t{stamp.time}\t{stamp.time}\tf\tf\t0\t0\n"
    with connection.cursor() as cursor, cursor.copy(f"COPY ledger_transaction ({COLUMNS}) FROM STDIN") as copy:
        lines = written(rows, company_id=str(company.id), tail=tail, ids=ids)
        while chunk := "".join(islice(lines, ROWS_A_WRITE)):
            copy.write(chunk)
    return ids


def written(rows: Iterable[Row], *, company_id: str, tail: str, ids: list[UUID]) -> Iterator[str]:
    """Each row as a line of COPY's text format."""
    for row in rows:
        item, row_id = row.item, new_id()
        ids.append(row_id)
        yield (
            f"{company_id}\t{row_id}\t{row.account_id}\t{item.date}\t{plain(item.from_to)}\t{plain(item.description)}\t"
            f"{item.amount_value}\t{row.currency}\t{nullable(item.notes)}\t{'t' if item.pending else 'f'}\t"
            f"{nullable(item.external_id)}{tail}"
        )


def plain(text: str | None) -> str:
    """A text that is never null."""
    return text.translate(ESCAPES) if text else ""


def nullable(text: str | None) -> str:
    return "\\N" if text is None else text.translate(ESCAPES)
