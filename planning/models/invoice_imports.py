"""Imports of open invoices from files."""

from typing import Literal, get_args

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q

from companies.models import Audited, CompanyOwned, CompanyOwnedQuerySet

InvoiceKind = Literal["receivables", "payables"]
INVOICE_KINDS: tuple[InvoiceKind, ...] = get_args(InvoiceKind)


class InvoiceImport(CompanyOwned, Audited):
    """One import of open invoices: its file, its counts, and whether it was undone."""

    kind = models.CharField(max_length=11, choices=[(kind, kind) for kind in INVOICE_KINDS])
    filename = models.CharField(max_length=255)
    count = models.IntegerField()
    duplicates = models.IntegerField()  # left out, planned already
    left_out = models.IntegerField()  # nothing was open
    counterparty_ids = ArrayField(models.UUIDField(), default=list)  # that it created
    undone_time = models.DateTimeField(null=True)

    objects = CompanyOwnedQuerySet["InvoiceImport"].as_manager()

    class Meta:
        indexes = [models.Index(fields=["company", "created_time", "id"], name="invoice_import_by_time")]
        constraints = [models.CheckConstraint(condition=Q(kind__in=INVOICE_KINDS), name="invoice_import_kind_known")]

    def __str__(self) -> str:
        return self.filename

    @property
    def counterparty_count(self) -> int:
        """How many counterparties it created."""
        return len(self.counterparty_ids)
