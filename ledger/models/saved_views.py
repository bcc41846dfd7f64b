"""Saved views of the transaction list."""

from typing import Self
from uuid import UUID

from django.db import models
from django.db.models import Q

from companies.models import Audited, CompanyOwned, CompanyOwnedQuerySet, User

MAX_QUERY_LENGTH = 2000  # characters of a query string


class SavedViewQuerySet(CompanyOwnedQuerySet["SavedView"]):
    def visible_to(self, user_id: UUID) -> Self:
        """Return a user's own views and those shared with the company, by name."""
        return self.filter(Q(person=user_id) | Q(shared=True)).order_by("name", "id")


class SavedView(CompanyOwned, Audited):
    """Filters and order of the transaction list, as a query string."""

    # Rows are always looked up by company first, so the foreign key needs no index of its own.
    person = models.ForeignKey(User, models.CASCADE, related_name="+", db_index=False)
    name = models.CharField(max_length=80)
    query = models.CharField(max_length=MAX_QUERY_LENGTH, blank=True)
    shared = models.BooleanField(default=False)

    objects = SavedViewQuerySet.as_manager()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["company", "person", "name"], name="saved_view_once_a_name")]

    def __str__(self) -> str:
        return self.name
