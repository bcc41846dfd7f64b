"""Stored transactions for the matcher: as their import reported them, and as they are now."""

from collections.abc import Collection, Container, Iterator, Mapping
from dataclasses import replace
from datetime import date
from decimal import Decimal
from itertools import chain
from typing import Any
from uuid import UUID

from companies.models import Company
from ledger.imports.calc.entry_groups import MatchKey, StoredTransaction
from ledger.models import ImportBatch, Source

READ_CHUNK_ROWS = 2000
MATCH_COLUMNS = (
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


def list_import_formats(company: Company) -> dict[UUID, str]:
    """Return the format of each import that came in a file."""
    format_rows = ImportBatch.objects.for_company(company.id).filter(format__isnull=False).values_list("id", "format")
    return {batch_id: format_ for batch_id, format_ in format_rows if format_}


def iterate_matchable_rows(
    rows: Any,
    match_keys: Container[MatchKey],
    account_ids: Collection[UUID | str],
    *,
    period: tuple[date, date],
    formats: Mapping[UUID, str],
    days: int = 0,
    amounts: Collection[Decimal] = (),
) -> Iterator[StoredTransaction]:
    """Yield those of a queryset's transactions that have the account, day, amount and currency of an entry, as they
    were told or as they are now, and those of ``amounts`` within so many ``days``; each once.

    Args:
        places: account, day, amount and currency of the entries, whose days are all in ``period``.
    """
    first = date.fromordinal(max(period[0].toordinal() - days, 1))
    last = date.fromordinal(min(period[1].toordinal() + days, date.max.toordinal()))
    in_time = rows.filter(account_id__in=account_ids, date__range=(first, last))
    rows_imported_in_time = rows.filter(as_told__isnull=False, as_told__date__range=(str(first), str(last)))
    corrected_ids = set()
    for row in chain(iterate_stored_rows(rows_imported_in_time, formats), iterate_stored_rows(in_time, formats)):
        if row.corrected and row.id in corrected_ids:
            continue
        if row.corrected:
            corrected_ids.add(row.id)
        if (
            row.match_key in match_keys
            or row.amount in amounts
            or (row.corrected and row.corrected.match_key in match_keys)
        ):
            yield row


def iterate_stored_rows(rows: Any, formats: Mapping[UUID, str | None]) -> Iterator[StoredTransaction]:
    """Yield the rows of a queryset for the matcher."""
    for row in rows.values_list(*MATCH_COLUMNS).iterator(chunk_size=READ_CHUNK_ROWS):
        row_id, account, day, amount, currency, reference, external_id, from_to, description, *more = row
        pending, source, batch, imported_values = more
        stored_row = StoredTransaction(
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
        yield to_imported_row(stored_row, imported_values) if imported_values else stored_row


def to_imported_row(row: StoredTransaction, imported_values: dict[str, str]) -> StoredTransaction:
    """Return the row as its import reported it, with its current values as correction."""
    return replace(
        row,
        account=imported_values["account_id"],
        day=date.fromisoformat(imported_values["date"]),
        amount=Decimal(imported_values["amount_value"]),
        currency=imported_values["amount_currency"],
        from_to=imported_values["from_to"],
        description=imported_values["description"],
        corrected=row,
    )
