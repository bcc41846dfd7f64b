"""Which companies to look into, where a request names a person or a key and no company.

Companies' rows lie on many machines, and a question without a company asks them all. The directory lies on every one
of them: it is asked first, and only the companies that it names are asked then. What somebody may do there, their own
row says; the directory opens nothing.
"""

from typing import Any
from uuid import UUID

from django.db import models

from companies.models.tenancy import CompanyOwned, Shared


class DirectoryQuerySet(models.QuerySet["DirectoryEntry"]):
    def companies_of(self, subject: UUID | str) -> list[UUID]:
        return list(self.filter(subject=subject).values_list("company_id", flat=True))


class DirectoryEntry(Shared):
    """``subject`` is the id of a user or of an API key. No row of theirs is stored before its entry: the database
    refuses it, on a cluster too."""

    pk = models.CompositePrimaryKey("subject", "company_id")
    subject = models.UUIDField()
    company_id = models.UUIDField()

    objects = DirectoryQuerySet.as_manager()

    class Meta:
        verbose_name_plural = "directory entries"
        indexes = [models.Index(fields=["company_id"], name="directory_by_company")]

    def __str__(self) -> str:
        return f"{self.subject} in {self.company_id}"


class Listed(CompanyOwned):
    """Base of what a company is found by: with the row comes its entry, and goes."""

    LISTED_BY: str  # the column with the subject's id

    class Meta:
        abstract = True

    def save(self, *args: Any, update_fields: Any = None, **kwargs: Any) -> None:
        named = update_fields is None or self._meta.get_field(self.LISTED_BY).name in update_fields
        if named and (subject := getattr(self, self.LISTED_BY)) is not None:
            entry = DirectoryEntry(subject=subject, company_id=self.company_id)
            DirectoryEntry.objects.bulk_create([entry], ignore_conflicts=True)
        super().save(*args, update_fields=update_fields, **kwargs)

    def delete(self, *args: Any, **kwargs: Any) -> tuple[int, dict[str, int]]:
        deleted = super().delete(*args, **kwargs)
        DirectoryEntry.objects.filter(subject=getattr(self, self.LISTED_BY), company_id=self.company_id).delete()
        return deleted
