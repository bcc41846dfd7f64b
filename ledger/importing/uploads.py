"""Files between their upload and their import: kept for a day in the configured storage, by whom and for which
company they were sent. Nobody else finds them, for their place is made of both ids."""

from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

from django.core.files.storage import default_storage
from django.db import transaction

from companies.changing import changing
from companies.errors import Conflict, FieldErrors
from companies.models import Company, Stamp, new_id
from companies.stores.storing import store_whole
from ledger.accounts.opening import change_account, set_initial_balance
from ledger.calc.csv_settings import list_setting_faults
from ledger.documents import quota
from ledger.importing import progress
from ledger.importing.bodies import Request
from ledger.importing.imports import Outcome, SentFile, import_transactions
from ledger.models import Account, Source
from ledger.money.amounts import amount_out

FOLDER = quota.UPLOADS
KEPT = timedelta(days=1)


class UploadGone(Conflict):
    """The file is no longer kept; upload it again."""


@dataclass(frozen=True, slots=True)
class Opening:
    """The balance of an account at the end of a day, before its first transaction."""

    day: date
    amount: Decimal
    currency: str


def keep(*, company_id: UUID, user_id: Any, file: Any) -> UUID:
    """Keeps an uploaded file (of Django's) and returns the id by which its sender finds it. Raises QuotaExceeded."""
    upload_id = new_id()
    with transaction.atomic():
        quota.make_room(company_id=company_id, size=file.size)
        store_whole(storage=default_storage, name=place(company_id, user_id, upload_id), content=file)
    return upload_id


def content(*, company_id: UUID, user_id: Any, upload_id: UUID) -> bytes:
    """The file's bytes. Raises UploadGone."""
    try:
        with default_storage.open(place(company_id, user_id, upload_id)) as file:
            return file.read()
    except FileNotFoundError:
        raise UploadGone from None


def size(*, company_id: UUID, user_id: Any, upload_id: UUID) -> int:
    """Return the file's length in bytes without reading it. Raises UploadGone."""
    try:
        return int(default_storage.size(place(company_id, user_id, upload_id)))
    except FileNotFoundError:
        raise UploadGone from None


def is_kept(*, company_id: UUID, user_id: Any, upload_id: UUID) -> bool:
    return default_storage.exists(place(company_id, user_id, upload_id))


def import_kept(
    *,
    company: Company,
    stamp: Stamp,
    upload_id: UUID,
    request: Request,
    account_id: UUID,
    reading: Any | None,
    name: str = "",
    opening: Opening | None = None,
) -> Outcome:
    """Stores the rows of a kept file, once: it goes before the change ends, so that a second click, which waits for its
    turn, finds nothing to import.

    ``reading`` is how the account's next file is read, None where that stays; ``opening`` becomes the account's initial
    balance. Raises UploadGone, FieldErrors.
    """
    if faults := list_setting_faults(reading or {}):
        raise FieldErrors([("#/importSettings/csv", fault.code, fault.detail) for fault in faults])
    owned: dict[str, Any] = {"company_id": company.id, "user_id": stamp.user_id, "upload_id": upload_id}
    with changing(company, stamp=stamp):
        if not is_kept(**owned):
            raise UploadGone
        file = SentFile(name or "file", "csv")
        outcome = import_transactions(company=company, stamp=stamp, request=request, source=Source.CSV, file=file)
        if reading is not None:
            kept = Account.objects.of(company.id).values_list("import_settings", flat=True).get(id=account_id) or {}
            values = {"import_settings": {**kept, "csv": reading}}
            change_account(company=company, stamp=stamp, account_id=account_id, values=values)
        if opening is not None:
            amount = amount_out(opening.amount, opening.currency)
            set_initial_balance(company=company, stamp=stamp, account_id=account_id, day=opening.day, amount=amount)
        drop(**owned)
    return outcome


def drop(*, company_id: UUID, user_id: Any, upload_id: UUID) -> None:
    default_storage.delete(place(company_id, user_id, upload_id))


def place(company_id: UUID, user_id: Any, upload_id: UUID) -> str:
    return f"{FOLDER}/{company_id}.{user_id}.{upload_id}.csv"


def prune(*, now: datetime) -> int:
    """Deletes files that nobody imported for a day, and notes that a stopped process left; returns how many."""
    paths = [f"{folder}/{name}" for folder in (FOLDER, progress.FOLDER) for name in names_in(folder)]
    old = [path for path in paths if default_storage.get_modified_time(path) < now - KEPT]
    for path in old:
        default_storage.delete(path)
    return len(old)


def names_in(folder: str) -> list[str]:
    try:
        return default_storage.listdir(folder)[1]
    except FileNotFoundError:
        return []
