"""Files attached to transactions: metadata here, content in the configured storage."""

from typing import Self
from uuid import UUID

from django.contrib.postgres.expressions import ArraySubquery
from django.db import models
from django.db.models import Exists, OuterRef, Q, Value

from companies.models import Audited, CompanyForeignKey, CompanyOwned, CompanyOwnedQuerySet
from ledger import hooks
from ledger.models.transactions import Transaction


class ParseStatus(models.TextChoices):
    OPEN = "open"
    PARSED = "parsed"
    MATCHED = "matched"
    FAILED = "failed"
    IGNORED = "ignored"


class ParseError(models.TextChoices):
    """Why the electronic invoice in a file could not be read."""

    UNSAFE_XML = "unsafe_xml"
    UNREADABLE_XML = "unreadable_xml"
    UNREADABLE_PDF = "unreadable_pdf"
    TOO_LARGE = "too_large"
    NOT_AN_INVOICE = "not_an_invoice"
    SEVERAL_INVOICES = "several_invoices"
    INVALID_INVOICE = "invalid_invoice"
    UNSUPPORTED_CURRENCY = "unsupported_currency"


class FileQuerySet(CompanyOwnedQuerySet["File"]):
    def with_transaction_ids(self, company_id: UUID) -> Self:
        """Annotate transaction_ids, sorted, and planned_transaction_id."""
        links = FileTransaction.objects.for_company(company_id).filter(file=OuterRef("id"))
        (planned_lookup,) = hooks.build_planned_file_lookup.run(company_id) or (Value(None),)
        return self.annotate(
            transaction_ids=ArraySubquery(links.order_by("transaction_id").values("transaction_id")),
            planned_transaction_id=planned_lookup,
        )

    def unattached(self) -> Self:
        """Return files without a transaction."""
        return self.exclude(Exists(FileTransaction.objects.filter(company=OuterRef("company"), file_id=OuterRef("id"))))

    def for_transaction(self, transaction_id: UUID) -> Self:
        """Return the files of a transaction."""
        same_file = {"company_id": OuterRef("company_id"), "file_id": OuterRef("id")}
        return self.filter(Exists(FileTransaction.objects.filter(**same_file, transaction_id=transaction_id)))


class File(CompanyOwned, Audited):
    filename = models.CharField(max_length=255)
    file_extension = models.CharField(max_length=10)
    content_type = models.CharField(max_length=60)
    size = models.IntegerField()
    storage_path = models.CharField(max_length=200)
    parse_status = models.CharField(max_length=10, choices=ParseStatus, default=ParseStatus.OPEN)
    parse_data = models.JSONField(null=True)
    parse_error = models.CharField(max_length=30, choices=ParseError, null=True)  # noqa: DJ001 - null on the wire

    transaction_ids: list[UUID]  # both annotated by `with_transaction_ids`
    planned_transaction_id: UUID | None = None

    objects = FileQuerySet.as_manager()

    class Meta:
        indexes = [
            models.Index(fields=["company", "created_time", "id"], name="file_by_time"),
            # Copies of a company share the contents: one is deleted with its last row.
            models.Index(fields=["company", "storage_path"], name="file_by_storage_path"),
        ]
        constraints = [
            models.CheckConstraint(condition=Q(parse_status__in=ParseStatus.values), name="file_parse_status_known"),
            models.CheckConstraint(
                condition=Q(parse_error__isnull=True)
                | Q(parse_error__in=ParseError.values, parse_status=ParseStatus.FAILED),
                name="file_parse_error_of_failed",
            ),
        ]

    def __str__(self) -> str:
        return self.filename

    @property
    def unversioned_values(self) -> str:
        """The annotated ids: they are a part of the version of the file."""
        return " ".join(map(str, [*getattr(self, "transaction_ids", ()), self.planned_transaction_id or ""])).strip()


class FileTransaction(CompanyOwned):
    """A link between a file and a transaction."""

    file = CompanyForeignKey(File, when_deleted="cascade")
    transaction = CompanyForeignKey(Transaction, when_deleted="cascade")

    objects = CompanyOwnedQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["company", "file", "transaction"], name="file_once_a_transaction")
        ]
        indexes = [models.Index(fields=["company", "transaction"], name="file_by_transaction")]

    def __str__(self) -> str:
        return f"{self.file_id} of {self.transaction_id}"
