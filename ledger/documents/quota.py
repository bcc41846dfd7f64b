"""How much room a company's files may take in the storage: documents, and CSV files that wait for their import."""

from uuid import UUID

from django.conf import settings
from django.core.files.storage import default_storage
from django.db import connection
from django.db.models import Sum
from django.utils.translation import gettext as _

from companies.errors import TooLarge
from companies.locales import current
from ledger.models import File

MIB = 1024 * 1024
UPLOADS = "csv-uploads"  # the folder of files that wait; a name there begins with its company


class QuotaExceeded(TooLarge):
    """The company's files take all the room that it has: delete documents first."""

    code = "quota_exceeded"


def make_room(*, company_id: UUID, size: int) -> None:
    """Waits for the company's other uploads and holds its turn to the end of the transaction, in which so many bytes
    are then stored. Raises QuotaExceeded."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", [f"storage:{company_id}"])
    if taken(company_id) + size > settings.STORAGE_QUOTA_MB * MIB:
        detail = _(
            "The company's files may take {most} MB, and this one would be too much. Delete documents first."
        ).format(most=current().number(settings.STORAGE_QUOTA_MB))
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
