"""How much room a company's files may take in the storage: documents, and CSV files that wait for their import."""

from uuid import UUID

from django.conf import settings
from django.core.files.storage import default_storage
from django.db import connection
from django.db.models import Sum
from django.utils.translation import gettext as _

from companies.errors import TooLarge
from companies.locales import current
from companies.membership.owners import find_owner_id, list_owned_companies
from ledger.models import File

MIB = 1024 * 1024
QUOTAS_PER_PERSON = 4  # that the companies of one owner may fill together
UPLOADS = "csv-uploads"  # the folder of files that wait; a name there begins with its company


class QuotaExceeded(TooLarge):
    """The company's files take all the room that it has: delete documents first."""

    code = "quota_exceeded"


def make_room(*, company_id: UUID, size: int) -> None:
    """Wait for other uploads of the company's owner and hold the turn to the end of the transaction, in which so many
    bytes are then stored.

    Raises QuotaExceeded where the company has no room left, or all companies of its owner together have none.
    """
    owner_id = find_owner_id(company_id)
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", [f"storage:{owner_id or company_id}"])
    if taken(company_id) + size > settings.STORAGE_QUOTA_MB * MIB:
        detail = _(
            "The company's files may take {most} MB, and this one would be too much. Delete documents first."
        ).format(most=current().number(settings.STORAGE_QUOTA_MB))
        raise QuotaExceeded(detail)
    companies = list_owned_companies(owner_id) if owner_id else []
    if len(companies) <= QUOTAS_PER_PERSON:
        return
    most = QUOTAS_PER_PERSON * settings.STORAGE_QUOTA_MB
    if sum(map(taken, companies)) + size > most * MIB:
        detail = _(
            "The files of all companies of this owner may take {most} MB, and this one would be too much. "
            "Delete documents first."
        ).format(most=current().number(most))
        raise QuotaExceeded(detail)


def taken(company_id: UUID) -> int:
    """Bytes of the company's files."""
    documents = File.objects.of(company_id).aggregate(bytes=Sum("size"))["bytes"] or 0
    return documents + sum(map(default_storage.size, waiting(company_id)))


def waiting(company_id: UUID) -> list[str]:
    """CSV files that were sent and are not imported yet."""
    try:
        _, names = default_storage.listdir(UPLOADS)
    except FileNotFoundError:
        return []
    return [f"{UPLOADS}/{name}" for name in names if name.startswith(f"{company_id}.")]
