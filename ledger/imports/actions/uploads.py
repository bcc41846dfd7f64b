"""Uploaded files before their import, kept for a day in the configured storage.

Their name is made of company and user, so nobody else finds them.
"""

from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.core.files.storage import default_storage
from django.db import transaction

from companies.change import change_company
from companies.errors import ConflictError, ValidationFailed
from companies.models import AuditContext, Company, generate_id
from companies.storage.actions import save_to_storage
from ledger import hooks
from ledger.accounts.actions.accounts import update_account
from ledger.accounts.calc.csv_settings import list_setting_faults
from ledger.files import quota
from ledger.imports import progress
from ledger.imports.actions.imports import SourceFile, TransactionImportOutcome, import_transactions
from ledger.imports.calc.running_balance import TableBalances
from ledger.imports.import_body import TransactionImportRequest
from ledger.models import Account, Source

UPLOAD_FOLDER = quota.PENDING_UPLOADS_FOLDER
UPLOAD_TTL = timedelta(days=1)


class UploadExpired(ConflictError):
    """The uploaded file has expired. Upload it again."""


def store_upload(*, company_id: UUID, user_id: Any, file: Any) -> UUID:
    """Store an uploaded file and return its id. Raises QuotaExceeded."""
    upload_id = generate_id()
    with transaction.atomic():
        quota.ensure_storage_quota(company_id=company_id, size=file.size)
        save_to_storage(storage=default_storage, name=build_upload_name(company_id, user_id, upload_id), content=file)
    return upload_id


def read_upload(*, company_id: UUID, user_id: Any, upload_id: UUID) -> bytes:
    """Return the file's bytes. Raises UploadExpired."""
    try:
        with default_storage.open(build_upload_name(company_id, user_id, upload_id)) as file:
            return file.read()
    except FileNotFoundError:
        raise UploadExpired from None


def get_upload_size(*, company_id: UUID, user_id: Any, upload_id: UUID) -> int:
    """Return the file's size in bytes without reading it. Raises UploadExpired."""
    try:
        return int(default_storage.size(build_upload_name(company_id, user_id, upload_id)))
    except FileNotFoundError:
        raise UploadExpired from None


def is_upload_stored(*, company_id: UUID, user_id: Any, upload_id: UUID) -> bool:
    return default_storage.exists(build_upload_name(company_id, user_id, upload_id))


def import_upload(
    *,
    company: Company,
    context: AuditContext,
    upload_id: UUID,
    request: TransactionImportRequest,
    account_id: UUID,
    csv_settings: Any | None,
    name: str = "",
    balances: TableBalances | None = None,
    opens_account: bool = False,
) -> TransactionImportOutcome:
    """Import an uploaded file, once: it is deleted before the change ends, so that a second click, which waits for
    the lock, finds nothing to import.

    Args:
        csv_settings: how the account's next file is read; None keeps the settings.
        balances: what the balance column proves; the account is reconciled with it as with a bank statement.
        opens_account: the opening balance becomes the account's initial balance.

    Raises UploadExpired, ValidationFailed, PeriodClosed.
    """
    if faults := list_setting_faults(csv_settings or {}):
        raise ValidationFailed([("#/importSettings/csv", fault.code, fault.detail) for fault in faults])
    upload_key: dict[str, Any] = {"company_id": company.id, "user_id": context.user_id, "upload_id": upload_id}
    with change_company(company, context=context) as change:
        if not is_upload_stored(**upload_key):
            raise UploadExpired
        file = SourceFile(name or "file", "csv")
        outcome = import_transactions(company=company, context=context, request=request, source=Source.CSV, file=file)
        if csv_settings is not None:
            import_settings = (
                Account.objects.for_company(company.id).values_list("import_settings", flat=True).get(id=account_id)
                or {}
            )
            values = {"import_settings": {**import_settings, "csv": csv_settings}}
            update_account(company=company, context=context, account_id=account_id, values=values)
        if outcome.batch is not None and balances is not None:
            (outcome.reported_balance,) = hooks.table_balances_proven.run(
                change=change,
                batch=outcome.batch,
                account_id=account_id,
                request=request,
                balances=balances,
                opens_account=opens_account,
            )
        delete_upload(**upload_key)
    return outcome


def delete_upload(*, company_id: UUID, user_id: Any, upload_id: UUID) -> None:
    default_storage.delete(build_upload_name(company_id, user_id, upload_id))


def build_upload_name(company_id: UUID, user_id: Any, upload_id: UUID) -> str:
    return f"{UPLOAD_FOLDER}/{company_id}.{user_id}.{upload_id}.csv"


def prune_uploads(*, now: datetime) -> int:
    """Delete files older than a day and notes of stopped processes; return how many."""
    paths = [
        f"{folder}/{name}" for folder in (UPLOAD_FOLDER, progress.PROGRESS_FOLDER) for name in list_stored_names(folder)
    ]
    expired_paths = [path for path in paths if default_storage.get_modified_time(path) < now - UPLOAD_TTL]
    for path in expired_paths:
        default_storage.delete(path)
    return len(expired_paths)


def list_stored_names(folder: str) -> list[str]:
    try:
        return default_storage.listdir(folder)[1]
    except FileNotFoundError:
        return []
