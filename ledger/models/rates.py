"""Euro reference rates of the European Central Bank."""

from typing import Self

from django.db import models

from companies.models import Currency, Shared


class Rate(Shared):
    """The units of a currency for one euro on a day."""

    pk = models.CompositePrimaryKey("currency", "date")
    currency = models.CharField(max_length=3, choices=Currency)
    date = models.DateField()
    per_euro = models.DecimalField(max_digits=18, decimal_places=8)

    class Meta:
        constraints = [models.CheckConstraint(condition=models.Q(per_euro__gt=0), name="rate_positive")]

    def __str__(self) -> str:
        return f"{self.date} {self.per_euro} {self.currency}"


class RateLoadQuerySet(models.QuerySet["RateLoad"]):
    def pending_revaluation(self) -> Self:
        """Return loads whose rates some results have not been converted with yet."""
        return self.filter(revalued_time=None)


class RateLoad(Shared):
    """One load of rates; the id of the newest is the version of the rates, by which caches are refreshed."""

    source = models.CharField(max_length=200)
    loaded_time = models.DateTimeField()
    rows = models.IntegerField()  # new or changed ones
    changed_from = models.DateField(null=True)  # the first day whose rate changed
    revalued_time = models.DateTimeField(null=True)  # when all results had been converted with these rates

    objects = RateLoadQuerySet.as_manager()

    def __str__(self) -> str:
        return f"{self.rows} rates from {self.source}"
