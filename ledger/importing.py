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

from django.db import connection

from companies.counters import note_import
from companies.errors import UNKNOWN_ID, FieldErrors
from companies.models import AuditEntry, Company, Currency, Stamp, id_from, new_id
from ledger.calc.money import minor_units
from ledger.categorizing import Whole, categorize_new
from ledger.import_body import Item, Request
from ledger.import_purposes import Purposes
from ledger.models import Account, ImportBatch, Source, Transaction
from ledger.one_writer import one_writer
from ledger.statistics import gather_after
from notifications.telling import import_finished

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
    rows: list[Item] = field(default_factory=list)  # what is stored, or would be


def import_transactions(*, company: Company, stamp: Stamp, request: Request, source: str = Source.IMPORT) -> Outcome:
    """Stores the items of an import, all or none of them; with ``onError: skip`` all good ones.

    Raises FieldErrors with up to 1,000 pointers where a row is wrong and nothing may be skipped.
    """
    outcome = Outcome(dry_run=request.dry_run, errors=request.errors)
    purposes = Purposes(company=company, items=request.items)
    rows = accepted(company=company, request=request, purposes=purposes, outcome=outcome)
    if outcome.errors and request.on_error == "abort":
        raise FieldErrors(outcome.errors[:MOST_ERRORS])
    if rows:
        one_writer(company)  # nor can a duplicate slip in beside this import
    rows = without_duplicates(company=company, rows=rows, request=request, outcome=outcome)
    outcome.rows, outcome.count = rows, len(rows)
    note_import(source="transactions", outcome=outcome)
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
    wholes = store(company=company, stamp=stamp, batch=outcome.batch, rows=rows, source=source, purposes=purposes)
    gather_after("ledger_transaction", rows=len(rows))
    if wholes:
        categorize_new(company=company, rows=wholes)
        gather_after("ledger_categorization", "ledger_posting", rows=len(wholes))
    AuditEntry.objects.record(
        stamp,
        company_id=company.id,
        action="import.finished",
        entity_type="import",
        entity_id=outcome.batch.id,
        after={"count": outcome.count, "duplicates": outcome.duplicates, "errors": len(outcome.errors)},
    )
    import_finished(
        company_id=company.id,
        stamp=stamp,
        import_id=outcome.batch.id,
        count=outcome.count,
        skipped_before_data_start=outcome.skipped_before_data_start,
        duplicates=outcome.duplicates,
    )
    return outcome


# ---------------------------------------------------------------------------------------------- checks


def accepted(*, company: Company, request: Request, purposes: Purposes, outcome: Outcome) -> list[Item]:
    """The items whose account, currency and amount are right; the others' errors, and a count of those too old.

    Each item gets its account and currency as the company spells them: one text for all, where 100,000 were sent.
    """
    accounts = {
        text: (text, currency)
        for text, currency in (
            (str(account_id), currency)
            for account_id, currency in Account.objects.of(company.id).values_list("id", "default_currency")
        )
    }
    start = company.data_start_date
    rows: list[Item] = []
    for index, item in enumerate(request.items):
        if item is None:
            continue
        account = accounts.get(item.account_id) or accounts.get(spelled(item.account_id))
        currency = item.amount_currency or (account[1] if account else company.base_currency)
        error = fault_of(item, known=account is not None, currency=currency) or purposes.fault(item)
        if error or account is None:
            name, code, detail = error or ("accountId", "unknown_id", UNKNOWN_ID)
            outcome.errors.append((f"#/transactions/{index}/{name}", code, detail))
        elif start is not None and item.date < start:
            outcome.skipped_before_data_start += 1
        else:
            item.account_id, item.amount_currency = account[0], currency
            rows.append(item)
    if request.errors:
        outcome.errors.sort(key=lambda error: int(error[0].split("/")[2]))
    return rows


def fault_of(item: Item, *, known: bool, currency: str) -> Error | None:
    """(field, code, detail) of the first thing that is wrong with an item, given its account and currency."""
    if not known:
        return "accountId", "unknown_id", UNKNOWN_ID
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
    """An id as we print it, in lower case; whatever is none stays as it is."""
    found = id_from(account_id)
    return str(found) if found else account_id


# ---------------------------------------------------------------------------------------------- duplicates


def without_duplicates(*, company: Company, rows: list[Item], request: Request, outcome: Outcome) -> list[Item]:
    """The rows that are new."""
    by_external_id = any(row.external_id is not None for row in rows)
    if not rows or not (by_external_id or request.duplicates == "skip"):
        return rows
    known = known_external_ids(company, rows) if by_external_id else set()
    stored = stored_fingerprints(company, rows) if request.duplicates == "skip" else Counter()
    new = []
    for row in rows:
        if row.external_id is not None:
            name = (row.account_id, row.external_id)
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


def known_external_ids(company: Company, rows: list[Item]) -> set[tuple[str, str]]:
    """(account, external id) of those that are stored already."""
    ids = list({row.external_id for row in rows if row.external_id is not None})
    found = Transaction.objects.of(company.id).filter(external_id__in=ids).values_list("account_id", "external_id")
    return {(str(account), external_id) for account, external_id in found if external_id is not None}


def fingerprint(item: Item) -> tuple[str, date, Decimal, str | None, str, str]:
    return (
        item.account_id,
        item.date,
        Decimal(item.amount_value),
        item.amount_currency,
        item.from_to or "",
        item.description or "",
    )


def stored_fingerprints(company: Company, rows: list[Item]) -> Counter[Any]:
    """How often each fingerprint stands in the ledger, over the days and accounts of the rows."""
    days = [row.date for row in rows]
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
    "categorizations_auto_assigned, exclude_from_auto_categorization, transferred_value, categorized_value"
)


def store(
    *, company: Company, stamp: Stamp, batch: ImportBatch, rows: list[Item], source: str, purposes: Purposes
) -> list[Whole]:
    """One COPY of all rows; returns the parts of those that say what they were for."""
    wholes: list[Whole] = []
    actor = "\\N" if stamp.actor is None else stamp.actor
    tail = f"\t{batch.id}\t{source}\t{actor}\t{actor}\t{stamp.time}\t{stamp.time}\tf\tf\t0\t"
    with connection.cursor() as cursor, cursor.copy(f"COPY ledger_transaction ({COLUMNS}) FROM STDIN") as copy:
        lines = written(rows, company_id=str(company.id), tail=tail, purposes=purposes, wholes=wholes)
        while chunk := "".join(islice(lines, ROWS_A_WRITE)):
            copy.write(chunk)
    return wholes


def written(
    rows: Iterable[Item], *, company_id: str, tail: str, purposes: Purposes, wholes: list[Whole]
) -> Iterator[str]:
    """Each row as a line of COPY's text format; its part is left in ``wholes``."""
    for item in rows:
        row_id, categorized = new_id(), "0"
        if item.category_id is not None:
            wholes.append(purposes.whole(item, row_id))
            categorized = item.amount_value
        yield (
            f"{company_id}\t{row_id}\t{item.account_id}\t{item.date}\t{plain(item.from_to)}\t{plain(item.description)}\t"
            f"{item.amount_value}\t{item.amount_currency}\t{nullable(item.notes)}\t{'t' if item.pending else 'f'}\t"
            f"{nullable(item.external_id)}{tail}{categorized}\n"
        )


def plain(text: str | None) -> str:
    """A text that is never null."""
    return text.translate(ESCAPES) if text else ""


def nullable(text: str | None) -> str:
    return "\\N" if text is None else text.translate(ESCAPES)
