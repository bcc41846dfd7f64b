"""Keeping documents beside transactions: the bytes in the configured storage, what is known of them in the database."""

import re
from collections.abc import Sequence
from typing import Any, Protocol
from uuid import UUID

from django.core.files import File as Content
from django.core.files.storage import default_storage
from django.db import transaction
from django.utils.translation import gettext as _

from companies.changing import changing
from companies.errors import FieldErrors, Missing, TooLarge, Unsupported, unknown_at
from companies.models import Company, Stamp, new_id, snapshot
from companies.stores.storing import drop, drop_after_commit, store_whole
from ledger.documents.quota import make_room
from ledger.documents.sniffing import Kind, kind_of
from ledger.models import File, FileTransaction, Transaction
from ledger.recognition.redating import redate
from ledger.transactions.touching import touched

MOST_BYTES = 20 * 1024 * 1024  # decisions on files
LONGEST_NAME = 255
LONGEST_EXTENSION = 5  # what stands behind the last point of a name and is longer belongs to the name


class FileTooLarge(TooLarge):
    """A file has at most 20 MiB."""

    code = "file_too_large"


class NamedContent(Protocol):
    """A file as somebody sent it."""

    name: str | None

    def read(self, size: int, /) -> bytes: ...


def keep(*, company: Company, stamp: Stamp, name: str, content: bytes, transaction_ids: list[UUID]) -> File:
    """Stores a document and ties it to transactions.

    Raises FileTooLarge, UnsupportedFile, QuotaExceeded, FieldErrors (unknown_id).
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
    )
    name = f"{company.id}/{row.id}.{kind.extension}"
    with transaction.atomic():
        make_room(company_id=company.id, size=len(content))
        row.storage_path = store_whole(storage=default_storage, name=name, content=content)
        try:
            with changing(company, stamp=stamp) as change:  # storing took its time: no other change waits for that
                change.store(row)
                tie(row, transaction_ids)
                touched(change, change.record(row, "file.created", after=snapshot(row)), transaction_ids)
        except BaseException:
            drop(storage=default_storage, name=row.storage_path)
            raise
    return row


def keep_all(
    *, company: Company, stamp: Stamp, files: Sequence[NamedContent], transaction_ids: list[UUID]
) -> list[File]:
    """Stores several documents, all of them or none; each is tied to the transactions.

    Raises what ``keep`` raises, with the name of the file that it is about.
    """
    kept: list[File] = []
    try:
        with changing(company, stamp=stamp):
            for file in files:
                content = file.read(MOST_BYTES + 1)
                kept.append(kept_or_named(company, stamp, file.name or "file", content, transaction_ids))
    except BaseException:
        for row in kept:  # what was stored in the transaction that is undone has no row any more
            drop(storage=default_storage, name=row.storage_path)
        raise
    return kept


def kept_or_named(company: Company, stamp: Stamp, name: str, content: bytes, transaction_ids: list[UUID]) -> File:
    try:
        return keep(company=company, stamp=stamp, name=name, content=content, transaction_ids=transaction_ids)
    except (TooLarge, Unsupported) as refusal:
        detail = _("“{name}”: {why}").format(name=shown_name(name), why=refusal.detail)
        raise type(refusal)(detail) from None


def attach(*, company: Company, stamp: Stamp, file_id: UUID | str, transaction_id: UUID) -> File:
    """Ties a document to one more transaction. Raises Missing, Stale, FieldErrors (unknown_id)."""
    with changing(company, stamp=stamp) as turn:
        tied = tied_to(turn.locked(File, file_id))
        values = {"transaction_ids": sorted(tied | {transaction_id})}
        return change(company=company, stamp=stamp, file_id=file_id, values=values)


def detach(*, company: Company, stamp: Stamp, file_id: UUID | str, transaction_id: UUID) -> File:
    """Ties it to one less; the document stays. Raises Missing, Stale."""
    with changing(company, stamp=stamp) as turn:
        tied = tied_to(turn.locked(File, file_id))
        if transaction_id not in tied:
            raise Missing
        values = {"transaction_ids": sorted(tied - {transaction_id})}
        return change(company=company, stamp=stamp, file_id=file_id, values=values)


def change(*, company: Company, stamp: Stamp, file_id: UUID | str, values: dict[str, Any]) -> File:
    """Stores changed metadata; parts dated by an invoice follow. Raises Missing, Stale, FieldErrors (unknown_id)."""
    values = dict(values)
    wanted = values.pop("transaction_ids", None)
    with changing(company, stamp=stamp) as change:
        row = change.locked(File, file_id)
        tied = tied_to(row)
        now_tied = tied if wanted is None else set(wanted)
        if wanted is not None:
            check_transactions(company, wanted)
        before = state(row, tied)
        moved = row.parse_data != values.get("parse_data", row.parse_data)
        changed = row.change(stamp, **values)
        if now_tied != tied:
            FileTransaction.objects.of(company.id).filter(file=row).delete()
            tie(row, wanted)
            row.touch(stamp)
        touched_ids = (tied | now_tied) if moved else tied ^ now_tied
        if touched_ids and (moved or row.parse_data):
            redate(change, sorted(touched_ids))
        if changed or now_tied != tied:
            entry = change.record(row, "file.updated", before=before, after=state(row, now_tied))
            touched(change, entry, touched_ids)
    return row


def delete(*, company: Company, stamp: Stamp, file_id: UUID | str) -> None:
    """Deletes a document; its bytes go when the change is kept. Raises Missing, Stale."""
    with changing(company, stamp=stamp) as change:
        row = change.locked(File, file_id)
        tied = sorted(tied_to(row))
        touched(change, change.delete(row, "file.deleted"), tied)
        if tied and row.parse_data:
            redate(change, tied)
        drop_after_commit(storage=default_storage, name=row.storage_path)


def opened(row: File) -> Content:
    """The document's bytes. Raises Missing where the storage has lost them."""
    try:
        return default_storage.open(row.storage_path)
    except FileNotFoundError:
        raise Missing from None


def state(row: File, tied: set[UUID]) -> dict[str, Any]:
    """Its columns and transactions as the log keeps them."""
    return snapshot(row) | {"transaction_ids": sorted(map(str, tied))}


def check_transactions(company: Company, ids: list[UUID]) -> None:
    """Raises FieldErrors with unknown_id."""
    known = set(Transaction.objects.of(company.id).filter(id__in=ids).values_list("id", flat=True))
    unknown = [position for position, each in enumerate(ids) if each not in known]
    if unknown:
        raise FieldErrors([unknown_at(f"#/transactionIds/{position}") for position in unknown])


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


def download_name(row: File) -> str:
    """The name under which a document is handed out: as its sender called it, with the extension of what it is.

    A machine opens a file by its extension: Invoice.hta would be a program wherever it is saved.
    """
    stem, _, last = row.filename.rpartition(".")
    if last.lower() == row.file_extension:
        return row.filename
    ends = stem and last.isalnum() and not last.isdecimal() and len(last) <= LONGEST_EXTENSION
    return f"{(stem if ends else row.filename).rstrip('. ')}.{row.file_extension}"


def extension(name: str, kind: Kind) -> str:
    """The kind's extension, in the name's spelling where that is one of the kind's own."""
    given = name.rpartition(".")[2].lower()
    return given if given in kind.other_extensions else kind.extension
