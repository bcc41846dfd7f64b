"""Which transactions an entry of the log is about, where it is about many or about something else."""

from django.db import models

from companies.models import AuditEntry, CompanyForeignKey, CompanyOwned, CompanyOwnedQuerySet


class TransactionTouched(CompanyOwned):
    """An act changed this transaction; the entry of the log says which act, by whom and when."""

    entry = CompanyForeignKey(AuditEntry, when_deleted="stays")
    transaction_id = models.UUIDField()  # no reference: the act may have deleted it
    as_partner = models.BooleanField(default=False)  # it was the other leg of a transfer, not what was chosen

    objects = CompanyOwnedQuerySet.as_manager()

    class Meta:
        indexes = [models.Index(fields=["company", "transaction_id"], name="touched_by_transaction")]

    def __str__(self) -> str:
        return f"{self.transaction_id} by {self.entry_id}"
