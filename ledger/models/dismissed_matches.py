"""Suggested matches that users dismissed, so that they are not suggested again."""

from typing import Self
from uuid import UUID

from django.db import models

from companies.models import CompanyForeignKey, CompanyOwned, CompanyOwnedQuerySet
from ledger.models.transactions import Transaction


class DismissedMatchQuerySet(CompanyOwnedQuerySet["DismissedMatch"]):
    def transfers(self) -> Self:
        return self.filter(day=None)

    def occurrences(self) -> Self:
        return self.exclude(day=None)

    def pairs(self) -> set[tuple[UUID, UUID]]:
        """Return (transaction id, other id) pairs."""
        return set(self.values_list("transaction_id", "other_id"))


class DismissedMatch(CompanyOwned):
    """A dismissed match of a transaction.

    With the other leg of a transfer or the payment that it may repeat, or, if `day` is set, with an occurrence of a
    planned transaction.
    """

    transaction = CompanyForeignKey(Transaction, when_deleted="cascade")  # for a transfer, the outgoing leg
    other_id = models.UUIDField()  # no foreign key: one of two kinds, and rows of deleted records do no harm
    day = models.DateField(null=True)

    objects = DismissedMatchQuerySet.as_manager()

    class Meta:
        db_table = "ledger_refusedmatch"
        constraints = [
            models.UniqueConstraint(
                fields=["company", "transaction", "other_id", "day"], name="match_refused_once", nulls_distinct=False
            )
        ]

    def __str__(self) -> str:
        return f"{self.transaction_id} is not {self.other_id}"
