"""Write files: the content in the configured storage, the metadata in the database."""

import re
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, Protocol
from uuid import UUID

from django.core.files import File as Content
from django.core.files.storage import default_storage
from django.db import transaction
from django.utils.translation import gettext as _

from companies.change import change_company
from companies.errors import (
    NotFoundError,
    TooLargeError,
    UnsupportedMediaTypeError,
    ValidationFailed,
    build_unknown_id_entry,
)
from companies.models import AuditContext, Company, Currency, DirectoryEntry, generate_id, parse_id, snapshot_row
from companies.storage.actions import delete_from_storage, save_to_storage
from ledger.files.calc.einvoice import InvoiceReadError
from ledger.files.calc.invoice_reader import read_invoice_file
from ledger.files.calc.parse_data import build_parse_data
from ledger.files.content_type import ContentKind, detect_content_kind
from ledger.files.quota import ensure_storage_quota
from ledger.models import File, FileTransaction, ParseError, ParseStatus, Transaction
from ledger.recognition.actions.period_updates import recompute_periods
from ledger.transactions.actions.audit_links import link_audit_entry

MAX_FILE_BYTES = 20 * 1024 * 1024  # decisions on files
MAX_FILENAME_LENGTH = 255
HIDDEN_DATA = "paymentReference"  # a part of the parse data that the API does not show and an update keeps
MAX_EXTENSION_LENGTH = 5  # a longer suffix after the last point is part of the name


class FileTooLarge(TooLargeError):
    """The file is larger than 20 MiB."""

    code = "file_too_large"


class UploadedContent(Protocol):
    """An uploaded file."""

    name: str | None

    def read(self, size: int, /) -> bytes: ...


def create_file(
    *, company: Company, context: AuditContext, name: str, content: bytes, transaction_ids: list[UUID]
) -> File:
    """Create a file and link it to transactions. An electronic invoice in it is read.

    Raises:
        FileTooLarge, UnsupportedFileType, UnsafeXml, QuotaExceeded.
        ValidationFailed: `unknown_id`.
        MissingRateError, PeriodClosed: the invoice's date moves a service period of its transactions.
    """
    if len(content) > MAX_FILE_BYTES:
        raise FileTooLarge
    kind = detect_content_kind(content)
    check_file_transactions(company, transaction_ids)
    row = File(
        id=generate_id(),
        company=company,
        filename=clean_filename(name),
        file_extension=choose_extension(name, kind),
        content_type=kind.content_type,
        size=len(content),
        **read_invoice_columns(content, kind),
    )
    name = f"{company.id}/{row.id}.{kind.extension}"
    with transaction.atomic():
        ensure_storage_quota(company_id=company.id, size=len(content))
        row.storage_path = save_to_storage(storage=default_storage, name=name, content=content)
        try:
            with change_company(
                company, context=context
            ) as change:  # opened after the upload, so that other changes do not wait for the storage
                change.insert(row)
                link_file_to_transactions(row, transaction_ids)
                if transaction_ids and row.parse_data:
                    recompute_periods(change, sorted(set(transaction_ids)))
                link_audit_entry(change, change.record(row, "file.created", after=snapshot_row(row)), transaction_ids)
        except BaseException:
            delete_from_storage(storage=default_storage, name=row.storage_path)
            raise
    return row


def read_invoice_columns(content: bytes, kind: ContentKind) -> dict[str, Any]:
    """Return the columns for what was read: the invoice's data, or why it could not be read. Never raises."""
    try:
        invoice = read_invoice_file(content, extension=kind.extension)
        if invoice is None:
            return {}
        if invoice.currency not in Currency.values:
            raise InvoiceReadError(ParseError.UNSUPPORTED_CURRENCY)
        return {"parse_status": ParseStatus.PARSED, "parse_data": build_parse_data(invoice)}
    except InvoiceReadError as error:
        return {"parse_status": ParseStatus.FAILED, "parse_error": ParseError(error.code)}


def create_files(
    *, company: Company, context: AuditContext, files: Sequence[UploadedContent], transaction_ids: list[UUID]
) -> list[File]:
    """Create several files, all or none; each is linked to the transactions.

    Raises what `create_file` raises, with the name of the file in the message.
    """
    created: list[File] = []
    try:
        with change_company(company, context=context):
            for file in files:
                content = file.read(MAX_FILE_BYTES + 1)
                created.append(
                    create_file_with_named_errors(company, context, file.name or "file", content, transaction_ids)
                )
    except BaseException:
        for row in created:  # the rows were rolled back; delete their content
            delete_from_storage(storage=default_storage, name=row.storage_path)
        raise
    return created


def create_file_with_named_errors(
    company: Company, context: AuditContext, name: str, content: bytes, transaction_ids: list[UUID]
) -> File:
    """Create a file; errors about its content name the file."""
    try:
        return create_file(
            company=company, context=context, name=name, content=content, transaction_ids=transaction_ids
        )
    except (TooLargeError, UnsupportedMediaTypeError) as error:
        detail = _("“{name}”: {why}").format(name=clean_filename(name), why=error.detail)
        raise type(error)(detail) from None


def attach_file(*, company: Company, context: AuditContext, file_id: UUID | str, transaction_id: UUID) -> File:
    """Link a file to one more transaction.

    Raises:
        NotFoundError, PreconditionFailed.
        ValidationFailed: `unknown_id`.
    """
    with change_company(company, context=context) as turn:
        linked_ids = list_file_transaction_ids(turn.lock(File, file_id))
        values = {"transaction_ids": sorted(linked_ids | {transaction_id})}
        return update_file(company=company, context=context, file_id=file_id, values=values)


def detach_file(*, company: Company, context: AuditContext, file_id: UUID | str, transaction_id: UUID) -> File:
    """Remove the link between a file and a transaction; the file stays. Raises NotFoundError, PreconditionFailed."""
    with change_company(company, context=context) as turn:
        linked_ids = list_file_transaction_ids(turn.lock(File, file_id))
        if transaction_id not in linked_ids:
            raise NotFoundError
        values = {"transaction_ids": sorted(linked_ids - {transaction_id})}
        return update_file(company=company, context=context, file_id=file_id, values=values)


def update_file(*, company: Company, context: AuditContext, file_id: UUID | str, values: dict[str, Any]) -> File:
    """Update a file's metadata. Categorizations dated by an invoice date in it are dated again.

    Raises:
        NotFoundError, PreconditionFailed.
        ValidationFailed: `unknown_id`.
    """
    values = dict(values)
    new_ids = values.pop("transaction_ids", None)
    with change_company(company, context=context) as change:
        row = change.lock(File, file_id)
        linked_ids = list_file_transaction_ids(row)
        new_linked_ids = linked_ids if new_ids is None else set(new_ids)
        if new_ids is not None:
            check_file_transactions(company, new_ids)
        before = build_file_snapshot(row, linked_ids)
        if values.get("parse_status", row.parse_status) != ParseStatus.FAILED:
            values["parse_error"] = None
        hidden_data = (row.parse_data or {}).get(HIDDEN_DATA)
        if values.get("parse_data") and hidden_data:
            values["parse_data"] = values["parse_data"] | {HIDDEN_DATA: hidden_data}
        is_parse_data_changed = row.parse_data != values.get("parse_data", row.parse_data)
        changed = row.apply_changes(context, **values)
        if new_linked_ids != linked_ids:
            FileTransaction.objects.for_company(company.id).filter(file=row).delete()
            link_file_to_transactions(row, new_ids)
            row.mark_updated(context)
        affected_ids = (linked_ids | new_linked_ids) if is_parse_data_changed else linked_ids ^ new_linked_ids
        if affected_ids and (is_parse_data_changed or row.parse_data):
            recompute_periods(change, sorted(affected_ids))
        if changed or new_linked_ids != linked_ids:
            entry = change.record(row, "file.updated", before=before, after=build_file_snapshot(row, new_linked_ids))
            link_audit_entry(change, entry, affected_ids)
    return row


def delete_file(*, company: Company, context: AuditContext, file_id: UUID | str) -> None:
    """Delete a file; its content is deleted from the storage after the commit.

    Raises:
        NotFoundError, PreconditionFailed
    """
    with change_company(company, context=context) as change:
        row = change.lock(File, file_id)
        linked_ids = sorted(list_file_transaction_ids(row))
        link_audit_entry(change, change.delete(row, "file.deleted"), linked_ids)
        if linked_ids and row.parse_data:
            recompute_periods(change, linked_ids)
        delete_unused_content_after_commit(row.storage_path)


def delete_unused_content_after_commit(path: str) -> None:
    """Delete a file's content after the commit, unless a copy of the company, or its original, still has the file."""
    transaction.on_commit(lambda: delete_unused_content(path), robust=True)


def delete_unused_content(path: str) -> None:
    original_id = parse_id(path.partition("/")[0])  # the folder is the company that the file was uploaded to
    copy_ids = DirectoryEntry.objects.list_company_ids(original_id) if original_id else []
    if not File.objects.filter(company_id__in=[original_id, *copy_ids], storage_path=path).exists():
        default_storage.delete(path)


def delete_company_contents_after_commit(*, company: Company) -> None:
    """Delete the contents of all files of a company after the commit."""
    for path in File.objects.for_company(company.id).values_list("storage_path", flat=True):
        delete_unused_content_after_commit(path)


def check_copy_fits_storage_quota(
    *, source: Company, company: Company, counts: dict[str, int], context: AuditContext
) -> None:
    """Check that the files of a copy fit into the storage quotas: they count in full. Raises QuotaExceeded."""
    if counts[File._meta.db_table]:
        ensure_storage_quota(company_id=company.id, size=0)


def open_file(row: File) -> Content:
    """Open the content of a file. Raises NotFoundError if the storage does not have it."""
    try:
        return default_storage.open(row.storage_path)
    except FileNotFoundError:
        raise NotFoundError from None


def find_file_with_content(company: Company, content: bytes) -> File | None:
    """Return the oldest file with exactly this content."""
    for row in File.objects.for_company(company.id).filter(size=len(content)).order_by("created_time", "id"):
        with suppress(NotFoundError), open_file(row) as stored:
            if stored.read() == content:
                return row
    return None


def build_file_snapshot(row: File, linked_ids: set[UUID]) -> dict[str, Any]:
    """Return a file's columns and transaction ids for the audit log."""
    return snapshot_row(row) | {"transaction_ids": sorted(map(str, linked_ids))}


def check_file_transactions(company: Company, transaction_ids: list[UUID]) -> None:
    """Check that the transactions belong to the company. Raises ValidationFailed with `unknown_id`."""
    known_ids = set(
        Transaction.objects.for_company(company.id).filter(id__in=transaction_ids).values_list("id", flat=True)
    )
    unknown_positions = [position for position, each in enumerate(transaction_ids) if each not in known_ids]
    if unknown_positions:
        raise ValidationFailed(
            [build_unknown_id_entry(f"#/transactionIds/{position}") for position in unknown_positions]
        )


def link_file_to_transactions(row: File, transaction_ids: list[UUID]) -> None:
    """Link a file to transactions."""
    FileTransaction.objects.bulk_create(
        FileTransaction(company_id=row.company_id, file=row, transaction_id=transaction_id)
        for transaction_id in dict.fromkeys(transaction_ids)
    )


def list_file_transaction_ids(row: File) -> set[UUID]:
    """Return the ids of the transactions that a file is linked to."""
    rows = FileTransaction.objects.for_company(row.company_id).filter(file=row)
    return set(rows.values_list("transaction_id", flat=True))


def clean_filename(name: str) -> str:
    """Return the last part of a file name without unprintable characters; never a path."""
    basename = re.split(r"[/\\]", name)[-1]
    clean = "".join(character for character in basename if character.isprintable()).strip()
    return clean[-MAX_FILENAME_LENGTH:] if clean.strip(".") else "file"


def get_download_name(row: File) -> str:
    """Return the name for a download: as uploaded, with the extension of the detected type.

    Operating systems open files by extension: Invoice.hta would run as a program.
    """
    stem, _, extension = row.filename.rpartition(".")
    if extension.lower() == row.file_extension:
        return row.filename
    has_extension = (
        stem and extension.isalnum() and not extension.isdecimal() and len(extension) <= MAX_EXTENSION_LENGTH
    )
    return f"{(stem if has_extension else row.filename).rstrip('. ')}.{row.file_extension}"


def choose_extension(name: str, kind: ContentKind) -> str:
    """Return the extension of the name if the detected type allows it, else the type's own."""
    extension = name.rpartition(".")[2].lower()
    return extension if extension in kind.other_extensions else kind.extension
