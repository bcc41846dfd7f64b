"""Which rounds of nightly work a company has had."""

from django.db import models

from companies.models.tenancy import CompanyOwned, CompanyOwnedQuerySet

LONGEST_NAME = 40


class LastRound(CompanyOwned):
    """The last round of a work that a company was done in; there is none for rounds without a name."""

    work = models.CharField(max_length=40)
    name = models.CharField(max_length=LONGEST_NAME)
    time = models.DateTimeField()

    objects = CompanyOwnedQuerySet["LastRound"].as_manager()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["company", "work"], name="one_last_round_of_each_work")]

    def __str__(self) -> str:
        return f"{self.work} {self.name}"
