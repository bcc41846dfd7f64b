"""What banks said of accounts, as statements told it, and what became of entries that were pending."""

from datetime import date
from typing import Self
from uuid import UUID

from django.contrib.postgres.fields import ArrayField
from django.db import models

from companies.models import CompanyForeignKey, CompanyOwned, CompanyOwnedQuerySet, Currency
from ledger.models.accounts import Account
from ledger.models.transactions import ImportBatch


class StatementQuerySet(CompanyOwnedQuerySet["Statement"]):
    def of_account(self, account_id: UUID) -> Self:
        return self.filter(account_id=account_id)

    def reconciling(self) -> Self:
        """Those whose closing balance can be compared with the ledger."""
        return self.filter(closing_balance__isnull=False, day__isnull=False)

    def covering(self, *, account_id: UUID, currency: str, day: date) -> Self:
        """Those whose closing balance a transaction of that day is in, the earliest first."""
        return self.of_account(account_id).reconciling().filter(currency=currency, day__gte=day).order_by("day", "id")


class Statement(CompanyOwned):
    """A statement that a file brought; it goes with the import when that is undone.

    What was left out because the books start later is in the opening balance, as on the day before they do.
    """

    account = CompanyForeignKey(Account, when_deleted="cascade")
    import_batch = CompanyForeignKey(ImportBatch, when_deleted="cascade")
    currency = models.CharField(max_length=3, choices=Currency)
    start_date = models.DateField(null=True)
    day = models.DateField(null=True)  # on whose evening the closing balance holds
    opening_balance = models.DecimalField(max_digits=19, decimal_places=4, null=True)
    closing_balance = models.DecimalField(max_digits=19, decimal_places=4, null=True)
    final = models.BooleanField()  # of its days the bank books nothing more
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


class PendingBefore(CompanyOwned):
    """A pending transaction as it was before an import booked it, or took it away: what undoing gives back."""

    transaction_id = models.UUIDField()
    import_batch = CompanyForeignKey(ImportBatch, when_deleted="cascade")
    facts = models.JSONField()  # the row by its columns
    parts = models.JSONField(null=True)  # what it was for
    file_ids = ArrayField(models.UUIDField(), default=list)  # its documents

    objects = CompanyOwnedQuerySet.as_manager()

    class Meta:
        indexes = [models.Index(fields=["company", "import_batch"], name="pending_before_by_import")]

    def __str__(self) -> str:
        return str(self.transaction_id)


class KnownBefore(CompanyOwned):
    """What an import found in the ledger already: where the other import is undone, these stay as its own. Kept until
    it is undone itself, which it may be at any time."""

    import_batch = CompanyForeignKey(ImportBatch, when_deleted="cascade")
    transaction_ids = ArrayField(models.UUIDField())  # no references: they may be deleted

    objects = CompanyOwnedQuerySet.as_manager()

    class Meta:
        indexes = [models.Index(fields=["company", "import_batch"], name="known_before_by_import")]

    def __str__(self) -> str:
        return f"{len(self.transaction_ids)} of {self.import_batch_id}"
