"""Storage quota of a company: its files and CSV files that wait for their import."""

from uuid import UUID

from django.conf import settings
from django.core.files.storage import default_storage
from django.db import connection
from django.db.models import Sum
from django.utils.translation import gettext as _

from companies.errors import TooLargeError
from companies.locales import get_current_locale
from companies.queries import find_owner_id, list_owned_companies
from ledger.models import File

MIB = 1024 * 1024
QUOTAS_PER_OWNER = 4  # quotas that all companies of one owner may use together
PENDING_UPLOADS_FOLDER = (
    "csv-uploads"  # storage folder of CSV files before their import; names start with the company id
)


class QuotaExceeded(TooLargeError):
    """The company's storage is full. Delete files you no longer need."""

    code = "quota_exceeded"


def ensure_storage_quota(*, company_id: UUID, size: int) -> None:
    """Check that `size` more bytes fit into the quotas of the company and of its owner.

    Locks the owner's storage until the end of the transaction, in which the bytes must be stored.

    Raises:
        QuotaExceeded: a quota is used up.
    """
    owner_id = find_owner_id(company_id)
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", [f"storage:{owner_id or company_id}"])
    if count_stored_bytes(company_id) + size > settings.STORAGE_QUOTA_MB * MIB:
        detail = _(
            "This file exceeds the company's storage limit of {most} MB. Delete files you no longer need."
        ).format(most=get_current_locale().format_number(settings.STORAGE_QUOTA_MB))
        raise QuotaExceeded(detail)
    companies = list_owned_companies(owner_id) if owner_id else []
    if len(companies) <= QUOTAS_PER_OWNER:
        return
    limit_mb = QUOTAS_PER_OWNER * settings.STORAGE_QUOTA_MB
    if sum(map(count_stored_bytes, companies)) + size > limit_mb * MIB:
        detail = _(
            "This file exceeds the owner's storage limit of {most} MB for all companies. Delete "
            "files you no longer need."
        ).format(most=get_current_locale().format_number(limit_mb))
        raise QuotaExceeded(detail)


def count_stored_bytes(company_id: UUID) -> int:
    """Return the bytes of a company's files and pending uploads."""
    documents = File.objects.for_company(company_id).aggregate(bytes=Sum("size"))["bytes"] or 0
    return documents + sum(map(default_storage.size, list_pending_uploads(company_id)))


def list_pending_uploads(company_id: UUID) -> list[str]:
    """Return the storage paths of uploaded CSV files that are not imported yet."""
    try:
        _, names = default_storage.listdir(PENDING_UPLOADS_FOLDER)
    except FileNotFoundError:
        return []
    return [f"{PENDING_UPLOADS_FOLDER}/{name}" for name in names if name.startswith(f"{company_id}.")]
