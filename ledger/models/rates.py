"""Euro reference rates of the European Central Bank."""

from typing import Self

from django.db import models

from companies.models import Currency, Shared


class Rate(Shared):
    """So many units of a currency were one euro on a day."""

    pk = models.CompositePrimaryKey("currency", "date")
    currency = models.CharField(max_length=3, choices=Currency)
    date = models.DateField()
    per_euro = models.DecimalField(max_digits=18, decimal_places=8)

    class Meta:
        constraints = [models.CheckConstraint(condition=models.Q(per_euro__gt=0), name="rate_positive")]

    def __str__(self) -> str:
        return f"{self.date} {self.per_euro} {self.currency}"


class RateLoadQuerySet(models.QuerySet["RateLoad"]):
    def waiting(self) -> Self:
        """Those at whose rates some results may not have been converted yet."""
        return self.filter(revalued_time=None)


class RateLoad(Shared):
    """One arrival of rates; the newest one's id is the version of the table, so that processes know to read anew."""

    source = models.CharField(max_length=200)
    loaded_time = models.DateTimeField()
    rows = models.IntegerField()  # new or changed ones
    changed_from = models.DateField(null=True)  # the first day whose rate is another one now
    revalued_time = models.DateTimeField(null=True)  # when all results had been converted at these rates

    objects = RateLoadQuerySet.as_manager()

    def __str__(self) -> str:
        return f"{self.rows} rates from {self.source}"
