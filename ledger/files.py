"""Keeping documents beside transactions: the bytes in the configured storage, what is known of them in the database."""

import re
from typing import Any
from uuid import UUID

from django.core.files.storage import default_storage
from django.db import transaction

from companies.errors import FieldErrors, TooLarge
from companies.models import Company, Stamp, new_id, record_change, snapshot
from companies.storing import drop, drop_after_commit, store_whole
from ledger.models import File, FileTransaction, Transaction
from ledger.redating import redate
from ledger.sniffing import Kind, kind_of

MOST_BYTES = 20 * 1024 * 1024  # decisions on files
LONGEST_NAME = 255


class FileTooLarge(TooLarge):
    """A file has at most 20 MiB."""

    code = "file_too_large"


def keep(*, company: Company, stamp: Stamp, name: str, content: bytes, transaction_ids: list[UUID]) -> File:
    """Stores a document and ties it to transactions.

    Raises FileTooLarge, UnsupportedFile, FieldErrors (unknown_id).
    """
    if len(content) > MOST_BYTES:
        raise FileTooLarge
    kind = kind_of(content)
    check_transactions(company, transaction_ids)
    row = File(
        id=new_id(),
        company=company,
        filename=shown_name(name),
        file_extension=extension(name, kind),
        content_type=kind.content_type,
        size=len(content),
    ).stamp_new(stamp)
    name = f"{company.id}/{row.id}.{kind.extension}"
    row.storage_path = store_whole(storage=default_storage, name=name, content=content)
    try:
        with transaction.atomic():
            row.save(force_insert=True)
            tie(row, transaction_ids)
            record_change(stamp, row, "file.created", after=snapshot(row))
    except BaseException:
        drop(storage=default_storage, name=row.storage_path)
        raise
    return row


def change(*, row: File, company: Company, stamp: Stamp, values: dict[str, Any]) -> File:
    """Stores changed metadata; parts dated by an invoice follow. Call with the row locked. Raises FieldErrors."""
    values = dict(values)
    wanted = values.pop("transaction_ids", None)
    tied = tied_to(row)
    before = snapshot(row) | {"transaction_ids": sorted(map(str, tied))}
    if wanted is not None:
        check_transactions(company, wanted)
    moved = row.parse_data != values.get("parse_data", row.parse_data)
    changed = row.change(stamp, **values)
    if wanted is not None and set(wanted) != tied:
        FileTransaction.objects.of(company.id).filter(file=row).delete()
        tie(row, wanted)
        changed = True
        row.last_updated_time, row.last_updated_user_id = stamp.time, stamp.actor
        row.save(update_fields=["last_updated_time", "last_updated_user_id"])
    now_tied = tied if wanted is None else set(wanted)
    touched = (tied | now_tied) if moved else tied ^ now_tied
    if touched and (moved or row.parse_data):
        redate(company=company, transaction_ids=sorted(touched), stamp=stamp)
    if changed:
        after = snapshot(row) | {"transaction_ids": sorted(map(str, now_tied))}
        record_change(stamp, row, "file.updated", before=before, after=after)
    return row


def delete(*, row: File, company: Company, stamp: Stamp) -> None:
    """Deletes a document; its bytes go when the change is kept. Call with the row locked."""
    tied, path = sorted(tied_to(row)), row.storage_path
    record_change(stamp, row, "file.deleted", before=snapshot(row))
    row.delete()
    if tied and row.parse_data:
        redate(company=company, transaction_ids=tied, stamp=stamp)
    drop_after_commit(storage=default_storage, name=path)


def check_transactions(company: Company, ids: list[UUID]) -> None:
    """Raises FieldErrors with unknown_id."""
    known = set(Transaction.objects.of(company.id).filter(id__in=ids).values_list("id", flat=True))
    unknown = [position for position, each in enumerate(ids) if each not in known]
    if unknown:
        detail = "There is no such record in this company."
        raise FieldErrors([(f"#/transactionIds/{position}", "unknown_id", detail) for position in unknown])


def tie(row: File, transaction_ids: list[UUID]) -> None:
    FileTransaction.objects.bulk_create(
        FileTransaction(company_id=row.company_id, file=row, transaction_id=each)
        for each in dict.fromkeys(transaction_ids)
    )


def tied_to(row: File) -> set[UUID]:
    rows = FileTransaction.objects.of(row.company_id).filter(file=row)
    return set(rows.values_list("transaction_id", flat=True))


def shown_name(name: str) -> str:
    """The last part of a name without what cannot be shown; it is never a path."""
    last = re.split(r"[/\\]", name)[-1]
    clean = "".join(character for character in last if character.isprintable()).strip()
    return clean[-LONGEST_NAME:] if clean.strip(".") else "file"


def extension(name: str, kind: Kind) -> str:
    """The kind's extension, in the name's spelling where that is one of the kind's own."""
    given = name.rpartition(".")[2].lower()
    return given if given in kind.other_extensions else kind.extension
