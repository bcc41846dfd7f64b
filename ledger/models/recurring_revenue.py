"""Recurring revenue by month, derived from subscription events by `analytics.queries.recurring_revenue`."""

from uuid import uuid4

from django.db import models

from companies.models import CompanyOwnedQuerySet, Currency


class RecurringRevenueState(models.Model):
    """One row per company: the rates and base currency its months were computed with, and whether they are stale.

    Writers of a company's subscription events lock it and set another `events_version`.
    """

    company = models.OneToOneField(
        "companies.Company", models.DO_NOTHING, primary_key=True, db_constraint=False, related_name="+"
    )
    base_currency = models.CharField(max_length=3, choices=Currency)
    rates_version = models.BigIntegerField(default=0)  # of the newest RateLoad; 0 where there is none
    stale = models.BooleanField(default=True)
    events_version = models.UUIDField(default=uuid4)

    objects = CompanyOwnedQuerySet.as_manager()

    class Meta:
        db_table = "ledger_recurringbook"

    def __str__(self) -> str:
        return f"{self.company_id}{' (stale)' if self.stale else ''}"


class RecurringRevenueMonth(models.Model):
    """Recurring revenue movements of a month in the base currency, not rounded; counts are distinct customers.

    `basis` is mrr (events by effective date) or cmrr (by committed date). A month without a row had no
    movement. Nothing depends on the day it is read: an unfinished month uses the latest known rate.
    """

    BASES = ("mrr", "cmrr")

    pk = models.CompositePrimaryKey("company_id", "basis", "month")
    company = models.ForeignKey(
        "companies.Company", models.DO_NOTHING, db_constraint=False, db_index=False, related_name="+"
    )
    basis = models.CharField(max_length=4, choices=[(basis, basis) for basis in BASES])
    month = models.DateField()  # its first day
    new = models.DecimalField(max_digits=60, decimal_places=30)
    new_count = models.IntegerField()
    reactivate = models.DecimalField(max_digits=60, decimal_places=30)
    reactivate_count = models.IntegerField()
    upgrade = models.DecimalField(max_digits=60, decimal_places=30)
    upgrade_count = models.IntegerField()
    downgrade = models.DecimalField(max_digits=60, decimal_places=30)
    downgrade_count = models.IntegerField()
    cancel = models.DecimalField(max_digits=60, decimal_places=30)
    cancel_count = models.IntegerField()
    currency = models.DecimalField(max_digits=60, decimal_places=30)
    currency_count = models.IntegerField()

    objects = CompanyOwnedQuerySet.as_manager()

    class Meta:
        db_table = "ledger_recurringmonth"

    def __str__(self) -> str:
        return f"{self.basis} {self.month:%Y-%m}"
