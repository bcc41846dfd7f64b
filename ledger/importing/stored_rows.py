"""Stored transactions as the matcher takes them: as whatever brought them told them, and as they are now."""

from collections.abc import Collection, Container, Iterator, Mapping
from dataclasses import replace
from datetime import date
from decimal import Decimal
from itertools import chain
from typing import Any
from uuid import UUID

from companies.models import Company
from ledger.importing.calc.matching import Key, Row
from ledger.models import ImportBatch, Source

ROWS_A_READ = 2000
LEDGER_COLUMNS = (
    "id",
    "account_id",
    "date",
    "amount_value",
    "amount_currency",
    "bank_reference",
    "external_id",
    "from_to",
    "description",
    "pending",
    "source",
    "import_batch_id",
    "as_told",
)


def list_formats(company: Company) -> dict[UUID, str]:
    """The format of each import that came in a file."""
    found = ImportBatch.objects.of(company.id).filter(format__isnull=False).values_list("id", "format")
    return {batch: format_ for batch, format_ in found if format_}


def list_rows_near(
    rows: Any,
    places: Container[Key],
    account_ids: Collection[UUID | str],
    *,
    period: tuple[date, date],
    formats: Mapping[UUID, str],
    days: int = 0,
    amounts: Collection[Decimal] = (),
) -> Iterator[Row]:
    """Yield those of a queryset's transactions that have the account, day, amount and currency of an entry, as they
    were told or as they are now, and those of ``amounts`` within so many ``days``; each once.

    Args:
        places: account, day, amount and currency of the entries, whose days are all in ``period``.
    """
    first = date.fromordinal(max(period[0].toordinal() - days, 1))
    last = date.fromordinal(min(period[1].toordinal() + days, date.max.toordinal()))
    in_time = rows.filter(account_id__in=account_ids, date__range=(first, last))
    otherwise = rows.filter(as_told__isnull=False, as_told__date__range=(str(first), str(last)))
    made = set()
    for row in chain(read_rows(otherwise, formats), read_rows(in_time, formats)):
        if row.corrected and row.id in made:
            continue
        if row.corrected:
            made.add(row.id)
        if row.place in places or row.amount in amounts or (row.corrected and row.corrected.place in places):
            yield row


def read_rows(rows: Any, formats: Mapping[UUID, str | None]) -> Iterator[Row]:
    for row in rows.values_list(*LEDGER_COLUMNS).iterator(chunk_size=ROWS_A_READ):
        row_id, account, day, amount, currency, reference, external_id, from_to, description, *more = row
        pending, source, batch, told = more
        here = Row(
            id=row_id,
            account=str(account),
            day=day,
            amount=amount,
            currency=currency,
            reference=reference or (external_id if source == Source.CSV else None) or "",
            from_to=from_to,
            description=description,
            pending=pending,
            format=formats.get(batch) if source in (Source.BANK, Source.CSV) else None,
        )
        yield as_told(here, told) if told else here


def as_told(row: Row, told: dict[str, str]) -> Row:
    """The row as its import told it, with what has become of it."""
    return replace(
        row,
        account=told["account_id"],
        day=date.fromisoformat(told["date"]),
        amount=Decimal(told["amount_value"]),
        currency=told["amount_currency"],
        from_to=told["from_to"],
        description=told["description"],
        corrected=row,
    )
