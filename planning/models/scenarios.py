"""Scenarios: what-if changes of what is planned."""

from django.db import models

from companies.models import Audited, CompanyOwned, CompanyOwnedQuerySet


class Scenario(CompanyOwned, Audited):
    """A what-if: changes of what is planned. Nothing else is stored of it until it is adopted.

    `changes` are objects of the API; those of kind `add` have the columns of their row besides. `adoption` is what
    undoing the adoption needs, null while the scenario is not adopted.
    """

    name = models.CharField(max_length=300)
    changes = models.JSONField()
    adoption_id = models.UUIDField(null=True)
    adopted_time = models.DateTimeField(null=True)
    adoption = models.JSONField(null=True)

    broken_positions: set[int]  # of changes; set by `attach_broken_positions`

    objects = CompanyOwnedQuerySet["Scenario"].as_manager()

    def __str__(self) -> str:
        return self.name

    @property
    def is_adopted(self) -> bool:
        return self.adoption_id is not None
