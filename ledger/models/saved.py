"""Lists that somebody looks at again and again, by a name of their own."""

from typing import Self
from uuid import UUID

from django.db import models
from django.db.models import Q

from companies.models import Audited, CompanyOwned, CompanyOwnedQuerySet, User

MOST_QUERY = 2000  # characters of an address


class SavedViewQuerySet(CompanyOwnedQuerySet["SavedView"]):
    def seen_by(self, user_id: UUID) -> Self:
        """A person's own and those that are shared with the company, by name."""
        return self.filter(Q(person=user_id) | Q(shared=True)).order_by("name", "id")


class SavedView(CompanyOwned, Audited):
    """Filters and an order of the list of transactions, as its address has them."""

    # Rows of one company are found by company first, so the reference has no index of its own.
    person = models.ForeignKey(User, models.CASCADE, related_name="+", db_index=False)
    name = models.CharField(max_length=80)
    query = models.CharField(max_length=MOST_QUERY, blank=True)
    shared = models.BooleanField(default=False)

    objects = SavedViewQuerySet.as_manager()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["company", "person", "name"], name="saved_view_once_a_name")]

    def __str__(self) -> str:
        return self.name
