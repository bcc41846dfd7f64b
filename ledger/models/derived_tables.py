"""Tables that database triggers derive from transactions and categorizations; `rebuild_derived` checks them.

Their primary keys are natural ones, company first.
"""

from django.db import models

from companies.models import CompanyOwnedQuerySet, Currency
from ledger.models.categories import PlType

# One amount is below 10^15, and below 10^34 in another currency, whatever the rates are. Both leave room for the sum of
# 10^15 of them, so that no total overflows.
TOTAL_DIGITS, BASE_TOTAL_DIGITS = 34, 60


class DayMovement(models.Model):
    """The change of an account's balance on a day, per currency, by booked transactions.

    `inflow` and `outflow` are the cash flows in it, both >= 0: without initial balances and legs of transfers.
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

    A balance is the sum of the months before and of the days of the current month: few rows, whatever the
    number of transactions, and a backdated transaction changes one row.
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


class CategorizationHistory(models.Model):
    """Categorization history of a name: the latest twenty categorizations of whole transactions, counted.

    Only decisions of people and rules count. `name` is the normalized name of the other side, `place` the rank
    by latest use, from 1.
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

    class Meta:
        db_table = "ledger_habit"

    def __str__(self) -> str:
        return f"{self.name} {self.pl_type} {self.count}"
