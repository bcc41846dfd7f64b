"""Tables that the database's triggers derive from facts. Nothing else writes them; ``rebuild_derived`` proves them.

Their primary keys are their natural ones, company first.
"""

from django.db import models

from companies.models import CompanyOwnedQuerySet, Currency
from ledger.models.categories import PlType

# One amount is below 10^15, and below 10^34 in another currency, whatever the rates are. Both leave room for the sum of
# 10^15 of them, so that no total overflows.
TOTAL_DIGITS, BASE_TOTAL_DIGITS = 34, 60


class DayMovement(models.Model):
    """What moved on an account on a day, per currency: the change of its balance, and the flows in it.

    ``amount`` is the change of the balance by booked transactions. ``inflow`` and ``outflow`` are the parts of it that
    are flows: no initial balance, no leg of a transfer; both are ≥ 0.
    """

    pk = models.CompositePrimaryKey("company_id", "account_id", "currency", "date")
    company = models.ForeignKey(
        "companies.Company", models.DO_NOTHING, db_constraint=False, db_index=False, related_name="+"
    )
    account_id = models.UUIDField()
    currency = models.CharField(max_length=3, choices=Currency)
    date = models.DateField()
    amount = models.DecimalField(max_digits=TOTAL_DIGITS, decimal_places=4)
    inflow = models.DecimalField(max_digits=TOTAL_DIGITS, decimal_places=4)
    outflow = models.DecimalField(max_digits=TOTAL_DIGITS, decimal_places=4)
    count = models.IntegerField()

    objects = CompanyOwnedQuerySet.as_manager()

    class Meta:
        indexes = [models.Index(fields=["company", "date"], name="day_movement_by_date")]

    def __str__(self) -> str:
        return f"{self.date} {self.amount} {self.currency}"


class MonthMovement(models.Model):
    """The change of an account's balance in a month, per currency.

    A balance is the sum of the months before and of the days of the month under way: few rows however many transactions
    lie beneath, and a backdated transaction touches one row.
    """

    pk = models.CompositePrimaryKey("company_id", "account_id", "currency", "month")
    company = models.ForeignKey(
        "companies.Company", models.DO_NOTHING, db_constraint=False, db_index=False, related_name="+"
    )
    account_id = models.UUIDField()
    currency = models.CharField(max_length=3, choices=Currency)
    month = models.DateField()
    amount = models.DecimalField(max_digits=TOTAL_DIGITS, decimal_places=4)
    count = models.IntegerField()

    objects = CompanyOwnedQuerySet.as_manager()

    def __str__(self) -> str:
        return f"{self.month:%Y-%m} {self.amount} {self.currency}"


class MonthResult(models.Model):
    """The sum of all postings of a month to a P&L line and category, in the base currency."""

    pk = models.CompositePrimaryKey("company_id", "month", "pl_type", "category_id")
    company = models.ForeignKey(
        "companies.Company", models.DO_NOTHING, db_constraint=False, db_index=False, related_name="+"
    )
    month = models.DateField()
    pl_type = models.CharField(max_length=10, choices=PlType)
    category_id = models.UUIDField()
    base_amount = models.DecimalField(max_digits=BASE_TOTAL_DIGITS, decimal_places=10)
    count = models.IntegerField()

    objects = CompanyOwnedQuerySet.as_manager()

    def __str__(self) -> str:
        return f"{self.month:%Y-%m} {self.pl_type} {self.base_amount}"


class Habit(models.Model):
    """What movements of a name were for: the latest twenty that a person or a rule decided as a whole, counted.

    ``name`` is that of the other side as it is compared, ``place`` the order of choices by their latest use, from 1.
    """

    pk = models.CompositePrimaryKey("company_id", "name", "place")
    company = models.ForeignKey(
        "companies.Company", models.DO_NOTHING, db_constraint=False, db_index=False, related_name="+"
    )
    name = models.TextField()
    place = models.SmallIntegerField()
    category_id = models.UUIDField()
    pl_type = models.CharField(max_length=10, choices=PlType)
    counterparty_id = models.UUIDField(null=True)
    count = models.SmallIntegerField()

    objects = CompanyOwnedQuerySet.as_manager()

    def __str__(self) -> str:
        return f"{self.name} {self.pl_type} {self.count}"
