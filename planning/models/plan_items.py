"""Items of the financial plan."""

from typing import Any

from django.db import models
from django.db.models import Q

from companies.locales import get_current_locale
from companies.models import (
    Audited,
    CompanyForeignKey,
    CompanyOwned,
    CompanyOwnedQuerySet,
    Currency,
    build_amount_condition,
)
from ledger.models import Category, PlType
from planning.calc.plan_postings import AMOUNT_TYPES


class PlanItem(CompanyOwned, Audited):
    """An item of the financial plan: amounts for a P&L line and category from a month on."""

    month = models.DateField()  # its first day
    pl_type = models.CharField(max_length=10, choices=PlType)
    category = CompanyForeignKey(Category)
    amount_type = models.CharField(max_length=20, choices=[(name, name) for name in AMOUNT_TYPES])
    amount_value = models.DecimalField(max_digits=19, decimal_places=4)
    amount_currency = models.CharField(max_length=3, choices=Currency)
    relative_change = models.DecimalField(max_digits=16, decimal_places=10, null=True)  # 0.1 is 10 % more each time
    duration = models.IntegerField(null=True)  # months; null has no end
    frequency = models.IntegerField(default=1)  # months between postings; 0 posts once

    objects = CompanyOwnedQuerySet["PlanItem"].as_manager()

    class Meta:
        indexes = [
            models.Index(fields=["company", "category"], name="plan_item_by_category"),
            models.Index(fields=["company", "month"], name="plan_item_by_month"),
        ]
        constraints = [
            models.CheckConstraint(condition=Q(month__day=1), name="plan_item_month_is_first_day"),
            models.CheckConstraint(condition=Q(pl_type__in=PlType.values), name="plan_item_pl_type_known"),
            models.CheckConstraint(condition=Q(amount_type__in=AMOUNT_TYPES), name="plan_item_amount_type_known"),
            models.CheckConstraint(condition=Q(amount_currency__in=Currency.values), name="plan_item_currency_known"),
            models.CheckConstraint(condition=build_amount_condition("amount_value"), name="plan_item_amount_a_number"),
            models.CheckConstraint(
                condition=~Q(amount_type="relative") | Q(relative_change__isnull=False),
                name="plan_item_relative_has_change",
            ),
            models.CheckConstraint(condition=Q(duration__gte=1), name="plan_item_duration_positive"),
            models.CheckConstraint(condition=Q(frequency__gte=0), name="plan_item_frequency_not_negative"),
        ]

    def __str__(self) -> str:
        return f"{self.month:%Y-%m} {self.pl_type}"

    @property
    def display_name(self) -> str:
        """The first month, as in the audit log."""
        return get_current_locale().format_month(self.month, full=True)

    @property
    def amount(self) -> dict[str, Any]:
        return {
            "type": self.amount_type,
            "amount": {"value": self.amount_value, "currency": self.amount_currency},
            "relative_change": self.relative_change,
        }
