"""What people said does not belong together, so that it is not proposed again."""

from typing import Self
from uuid import UUID

from django.db import models

from companies.models import CompanyForeignKey, CompanyOwned, CompanyOwnedQuerySet
from ledger.models.transactions import Transaction


class RefusedMatchQuerySet(CompanyOwnedQuerySet["RefusedMatch"]):
    def transfers(self) -> Self:
        return self.filter(day=None)

    def occurrences(self) -> Self:
        return self.exclude(day=None)

    def pairs(self) -> set[tuple[UUID, UUID]]:
        """(transaction, what it was refused for)"""
        return set(self.values_list("transaction_id", "other_id"))


class RefusedMatch(CompanyOwned):
    """A transaction is not what it was put together with: the other leg of a transfer, or, with a day, what apps above
    expected on that day."""

    transaction = CompanyForeignKey(Transaction, when_deleted="cascade")  # of a transfer the outgoing leg
    other_id = models.UUIDField()  # no reference: of either kind, and what is no more is proposed for nothing
    day = models.DateField(null=True)

    objects = RefusedMatchQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["company", "transaction", "other_id", "day"], name="match_refused_once", nulls_distinct=False
            )
        ]

    def __str__(self) -> str:
        return f"{self.transaction_id} is not {self.other_id}"
