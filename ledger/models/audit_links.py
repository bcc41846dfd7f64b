"""Links from audit entries to transactions, for entries about many transactions or about another record."""

from django.db import models

from companies.models import AuditEntry, CompanyForeignKey, CompanyOwned, CompanyOwnedQuerySet


class AuditEntryTransaction(CompanyOwned):
    """A transaction that the operation of an audit entry changed."""

    entry = CompanyForeignKey(AuditEntry, when_deleted="stays")
    transaction_id = models.UUIDField()  # no foreign key: the operation may have deleted it
    as_partner = models.BooleanField(default=False)  # changed as the other leg of a transfer, not selected itself

    objects = CompanyOwnedQuerySet.as_manager()

    class Meta:
        db_table = "ledger_transactiontouched"
        indexes = [models.Index(fields=["company", "transaction_id"], name="touched_by_transaction")]

    def __str__(self) -> str:
        return f"{self.transaction_id} by {self.entry_id}"
