"""Planned transactions made from invoices in files."""

from django.db import models
from django.db.models import Q

from companies.models import CompanyForeignKey, CompanyOwned, CompanyOwnedQuerySet
from ledger.models import Direction, File
from planning.models.planned_transactions import PlannedTransaction


class InvoiceFile(CompanyOwned):
    """The planned transaction that was made from the invoice in a file, and what the invoice said of its parties."""

    file = CompanyForeignKey(File, when_deleted="cascade")
    planned = CompanyForeignKey(PlannedTransaction, when_deleted="cascade")
    direction = models.CharField(max_length=3, choices=Direction)  # in: receivable, out: payable
    # Identifiers without blanks, case and punctuation.
    own_vat_id = models.CharField(max_length=50, null=True)  # noqa: DJ001 - null as in the invoice
    party_vat_id = models.CharField(max_length=50, null=True)  # noqa: DJ001
    party_iban = models.CharField(max_length=34, null=True)  # noqa: DJ001
    payment_reference = models.CharField(max_length=300, null=True)  # noqa: DJ001 - as the payer is asked to state it

    objects = CompanyOwnedQuerySet["InvoiceFile"].as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["company", "file"], name="invoice_file_planned_once"),
            models.UniqueConstraint(fields=["company", "planned"], name="invoice_file_of_planned"),
            models.CheckConstraint(condition=Q(direction__in=Direction.values), name="invoice_file_direction_known"),
        ]

    def __str__(self) -> str:
        return f"{self.file_id} as {self.planned_id}"
