"""Directory of the companies of a user or API key, for requests that name no company, and of the copies of a company.

On a cluster, company rows lie on many machines and a query without a company asks all of them. The
directory is copied to every machine and says which companies to query. It grants nothing: permissions
come from the company's own rows.
"""

from typing import Any
from uuid import UUID

from django.db import models

from companies.models.tenancy import CompanyOwned, Shared


class DirectoryQuerySet(models.QuerySet["DirectoryEntry"]):
    def list_company_ids(self, subject: UUID | str) -> list[UUID]:
        """Return the ids of the companies of a user or API key, or of the sandboxes of a company."""
        return list(self.filter(subject=subject).values_list("company_id", flat=True))


class DirectoryEntry(Shared):
    """``subject`` is the id of a user, an API key, or the company of a sandbox. The database rejects a membership or
    key without its directory entry.
    """

    pk = models.CompositePrimaryKey("subject", "company_id")
    subject = models.UUIDField()
    company_id = models.UUIDField()

    objects = DirectoryQuerySet.as_manager()

    class Meta:
        verbose_name_plural = "directory entries"
        indexes = [models.Index(fields=["company_id"], name="directory_by_company")]

    def __str__(self) -> str:
        return f"{self.subject} in {self.company_id}"


class DirectoryListed(CompanyOwned):
    """Base of models that have a directory entry, which is written and deleted with the row."""

    DIRECTORY_FIELD: str  # column with the id of the user or key

    class Meta:
        abstract = True

    def save(self, *args: Any, update_fields: Any = None, **kwargs: Any) -> None:
        is_subject_saved = update_fields is None or self._meta.get_field(self.DIRECTORY_FIELD).name in update_fields
        if is_subject_saved and (subject := getattr(self, self.DIRECTORY_FIELD)) is not None:
            entry = DirectoryEntry(subject=subject, company_id=self.company_id)
            DirectoryEntry.objects.bulk_create([entry], ignore_conflicts=True)
        super().save(*args, update_fields=update_fields, **kwargs)

    def delete(self, *args: Any, **kwargs: Any) -> tuple[int, dict[str, int]]:
        deleted = super().delete(*args, **kwargs)
        DirectoryEntry.objects.filter(subject=getattr(self, self.DIRECTORY_FIELD), company_id=self.company_id).delete()
        return deleted
