"""Which maintenance round each company has completed."""

from django.db import models

from companies.models.tenancy import CompanyOwned, CompanyOwnedQuerySet

MAX_ROUND_NAME_LENGTH = 40


class MaintenanceCheckpoint(CompanyOwned):
    """The last named round of a maintenance job that processed the company."""

    work = models.CharField(max_length=40)
    name = models.CharField(max_length=MAX_ROUND_NAME_LENGTH)
    time = models.DateTimeField()

    objects = CompanyOwnedQuerySet["MaintenanceCheckpoint"].as_manager()

    class Meta:
        db_table = "companies_lastround"
        constraints = [models.UniqueConstraint(fields=["company", "work"], name="one_last_round_of_each_work")]

    def __str__(self) -> str:
        return f"{self.work} {self.name}"
