"""Categorizations: the amounts of a transaction by category and P&L line; some are legs of transfers."""

from datetime import date
from decimal import Decimal
from typing import Self

from django.db import models
from django.db.models import F, Q

from companies.models import CompanyForeignKey, CompanyOwned, CompanyOwnedQuerySet
from ledger.calc.recognition import DateRule
from ledger.models.categories import TRANSFER_SYSTEM_KEY, Category, Counterparty, PlType
from ledger.models.rules import CategorizationRun
from ledger.models.transactions import Source, Transaction

DATE_RULE_CHOICES = [(rule.value, rule.value) for rule in DateRule]


class LinkKind(models.TextChoices):
    TRANSFER = "transfer"
    TRANSIT = "transit"


class CategorizationQuerySet(CompanyOwnedQuerySet["Categorization"]):
    def linked(self) -> Self:
        """Return legs of transfers: they count in balances, but in no cash flow and no P&L line."""
        return self.filter(counter__isnull=False)

    def unlinked(self) -> Self:
        """Return categorizations that are not legs of transfers."""
        return self.filter(counter__isnull=True)

    def unlinked_transfers(self) -> Self:
        """Return categorizations of whole transactions as Transfers that are not linked with the other transaction."""
        whole_amount = self.unlinked().filter(value=F("transaction__amount_value")).exclude(value=0)
        return whole_amount.filter(category__system_key=TRANSFER_SYSTEM_KEY)

    def counted_in_results(self) -> Self:
        """Return categorizations that count in the profit and loss: booked, no initial balance, no leg of a transfer.

        `is_counted_in_results` is the same condition on the transaction alone.
        """
        return self.unlinked().filter(transaction__pending=False).exclude(transaction__source=Source.INITIAL_BALANCE)


class Categorization(CompanyOwned):
    """One amount of a transaction assigned to a category; `value` is the sum of its P&L lines and tax."""

    transaction = CompanyForeignKey(Transaction, when_deleted="cascade")
    position = models.SmallIntegerField(default=0)  # the order in which the map was sent
    category = CompanyForeignKey(Category)
    counterparty = CompanyForeignKey(Counterparty, null=True)
    counterparty_by_settlement = models.BooleanField(
        null=True
    )  # True: a settlement set it, and nobody changed it since
    rule = models.CharField(max_length=20, choices=DATE_RULE_CHOICES, default=DateRule.TRANSACTION_DATE.value)
    rule_start_date = models.DateField(null=True)  # of servicePeriod and custom
    rule_end_date = models.DateField(null=True)
    invoice_date = models.DateField(null=True)
    computed_start_date = models.DateField()
    computed_end_date = models.DateField()
    # With recognizeFrom: the first day of the month in which the days before it are recognized, else null.
    recognized_from = models.DateField(null=True)
    # One column per P&L line, in the transaction's currency with its sign; null if the line is not used.
    revenue = models.DecimalField(max_digits=19, decimal_places=4, null=True)
    cogs = models.DecimalField(max_digits=19, decimal_places=4, null=True)
    cac = models.DecimalField(max_digits=19, decimal_places=4, null=True)
    pd = models.DecimalField(max_digits=19, decimal_places=4, null=True)
    ga = models.DecimalField(max_digits=19, decimal_places=4, null=True)
    no = models.DecimalField(max_digits=19, decimal_places=4, null=True)
    neutral = models.DecimalField(max_digits=19, decimal_places=4, null=True)
    pass_through_tax = models.DecimalField(max_digits=19, decimal_places=4, null=True)
    value = models.DecimalField(max_digits=19, decimal_places=4)
    link_kind = models.CharField(max_length=10, choices=LinkKind, null=True)  # noqa: DJ001
    counter = CompanyForeignKey("self", null=True)  # the other leg
    source_note = models.TextField(null=True)  # noqa: DJ001
    run = CompanyForeignKey(CategorizationRun, null=True)  # the run that assigned it, until someone edits it
    replaced = models.JSONField(null=True)  # the categorization that the run replaced

    objects = CategorizationQuerySet.as_manager()

    class Meta:
        indexes = [
            models.Index(fields=["company", "transaction"], name="categorization_by_transaction"),
            models.Index(fields=["company", "category"], name="categorization_by_category"),
            models.Index(
                fields=["company", "counterparty"],
                condition=Q(counterparty__isnull=False),
                name="categorization_by_counterparty",
            ),
            models.Index(fields=["company", "run"], condition=Q(run__isnull=False), name="categorization_by_run"),
        ]
        constraints = [
            models.UniqueConstraint(
                fields=["company", "counter"], condition=Q(counter__isnull=False), name="categorization_one_counter_leg"
            ),
            models.CheckConstraint(
                condition=Q(computed_start_date__lte=F("computed_end_date")), name="categorization_period_in_order"
            ),
            models.CheckConstraint(
                condition=Q(rule__in=[rule for rule, _ in DATE_RULE_CHOICES]), name="categorization_rule_known"
            ),
            models.CheckConstraint(
                condition=Q(link_kind__isnull=True, counter__isnull=True)
                | Q(link_kind__in=LinkKind.values, counter__isnull=False),
                name="categorization_link_complete",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.value} of {self.transaction_id}"

    @property
    def service_period(self) -> tuple[date, date]:
        """The first and the last day that it belongs to."""
        return self.computed_start_date, self.computed_end_date

    @property
    def split(self) -> dict[str, Decimal]:
        """The amounts by P&L line, without lines that are null."""
        lines = {line: getattr(self, line) for line in PlType.values}
        return {line: value for line, value in lines.items() if value is not None}


class Posting(models.Model):
    """Derived: the amount of a categorization on a P&L line in one month, in its own and in the base currency.

    Only categorizations that count have postings: booked, no initial balance, no leg of a transfer.
    """

    pk = models.CompositePrimaryKey("company_id", "categorization_id", "pl_type", "month")
    company = models.ForeignKey(
        "companies.Company", models.DO_NOTHING, db_constraint=False, db_index=False, related_name="+"
    )
    categorization_id = models.UUIDField()
    pl_type = models.CharField(max_length=10, choices=PlType)
    month = models.DateField()  # its first day
    category_id = models.UUIDField()
    amount = models.DecimalField(max_digits=19, decimal_places=4)
    base_amount = models.DecimalField(max_digits=44, decimal_places=10)

    objects = CompanyOwnedQuerySet.as_manager()

    def __str__(self) -> str:
        return f"{self.month:%Y-%m} {self.pl_type} {self.amount}"
