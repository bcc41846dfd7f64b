"""Bank statements, and what imports changed on transactions that were there before."""

from datetime import date
from typing import Self
from uuid import UUID

from django.contrib.postgres.fields import ArrayField
from django.db import models

from companies.models import CompanyForeignKey, CompanyOwned, CompanyOwnedQuerySet, Currency
from ledger.models.accounts import Account
from ledger.models.transactions import ImportBatch


class StatementQuerySet(CompanyOwnedQuerySet["Statement"]):
    def for_account(self, account_id: UUID) -> Self:
        return self.filter(account_id=account_id)

    def with_closing_balance(self) -> Self:
        """Return statements whose closing balance can be reconciled with the ledger."""
        return self.filter(closing_balance__isnull=False, day__isnull=False)

    def with_closing_balance_covering(self, *, account_id: UUID, currency: str, day: date) -> Self:
        """Return statements whose closing balance includes a transaction of that day, earliest first."""
        return (
            self.for_account(account_id)
            .with_closing_balance()
            .filter(currency=currency, day__gte=day)
            .order_by("day", "id")
        )


class Statement(CompanyOwned):
    """A bank statement from an imported file; it is deleted when the import is undone.

    Entries before the company's data start date are included in the opening balance, which is that of the day
    before.
    """

    account = CompanyForeignKey(Account, when_deleted="cascade")
    import_batch = CompanyForeignKey(ImportBatch, when_deleted="cascade")
    currency = models.CharField(max_length=3, choices=Currency)
    start_date = models.DateField(null=True)
    day = models.DateField(null=True)  # the day of the closing balance
    opening_balance = models.DecimalField(max_digits=19, decimal_places=4, null=True)
    closing_balance = models.DecimalField(max_digits=19, decimal_places=4, null=True)
    final = models.BooleanField()  # the bank books nothing more on its days
    number_given = models.CharField(max_length=64, null=True)  # noqa: DJ001 - to the account, by it or one before it
    created_time = models.DateTimeField()

    objects = StatementQuerySet.as_manager()

    class Meta:
        indexes = [
            models.Index(fields=["company", "account", "day", "id"], name="statement_by_day"),
            models.Index(fields=["company", "import_batch"], name="statement_by_import"),
        ]

    def __str__(self) -> str:
        return f"{self.day} {self.closing_balance} {self.currency}"


class PendingSnapshot(CompanyOwned):
    """A pending transaction before an import booked or removed it: the state that undoing the import restores."""

    transaction_id = models.UUIDField()
    import_batch = CompanyForeignKey(ImportBatch, when_deleted="cascade")
    facts = models.JSONField()  # the row, by column
    parts = models.JSONField(null=True)  # its categorizations as rows
    file_ids = ArrayField(models.UUIDField(), default=list)  # its files

    objects = CompanyOwnedQuerySet.as_manager()

    class Meta:
        db_table = "ledger_pendingbefore"
        indexes = [models.Index(fields=["company", "import_batch"], name="pending_before_by_import")]

    def __str__(self) -> str:
        return str(self.transaction_id)


class ImportDuplicates(CompanyOwned):
    """The transactions that an import found in the ledger already: they stay when the other import is undone.

    Kept until the import itself is undone.
    """

    import_batch = CompanyForeignKey(ImportBatch, when_deleted="cascade")
    transaction_ids = ArrayField(models.UUIDField())  # no foreign keys: they may be deleted

    objects = CompanyOwnedQuerySet.as_manager()

    class Meta:
        db_table = "ledger_knownbefore"
        indexes = [models.Index(fields=["company", "import_batch"], name="known_before_by_import")]

    def __str__(self) -> str:
        return f"{len(self.transaction_ids)} of {self.import_batch_id}"
