"""What a movement is for (categories and the P&L lines they post to) and with whom (counterparties)."""

from typing import Self

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q

from companies.models import Audited, CompanyOwned, CompanyOwnedQuerySet


class PlType(models.TextChoices):
    """The lines of the profit and loss statement, as service.md 2.4 names them."""

    REVENUE = "revenue"
    COGS = "cogs"
    CAC = "cac"
    PD = "pd"
    GA = "ga"
    NO = "no"
    NEUTRAL = "neutral"


class CategoryQuerySet(CompanyOwnedQuerySet["Category"]):
    def in_order(self) -> Self:
        return self.order_by("order", "name", "id")

    def system(self, key: str) -> Self:
        """The category that the service itself posts to under a key."""
        return self.filter(system_key=key)


class Category(CompanyOwned, Audited):
    name = models.CharField(max_length=200)
    emoji = models.CharField(max_length=32, null=True)  # noqa: DJ001 - null on the wire
    pl_types = ArrayField(models.CharField(max_length=10, choices=PlType))
    system = models.BooleanField(default=False)
    system_key = models.CharField(max_length=40, null=True)  # noqa: DJ001
    order = models.IntegerField(default=0)

    objects = CategoryQuerySet.as_manager()

    class Meta:
        verbose_name_plural = "categories"
        constraints = [
            models.UniqueConstraint(
                fields=["company", "system_key"], condition=Q(system_key__isnull=False), name="category_system_key_once"
            ),
            models.CheckConstraint(
                condition=Q(pl_types__contained_by=PlType.values) & Q(pl_types__len__gte=1),
                name="category_pl_types_known",
            ),
        ]

    def __str__(self) -> str:
        return self.name


class CounterpartyType(models.TextChoices):
    CUSTOMER = "customer"
    VENDOR = "vendor"
    EMPLOYEE = "employee"
    OWNER = "owner"
    AUTHORITY = "authority"
    OTHER = "other"


class CounterpartyQuerySet(CompanyOwnedQuerySet["Counterparty"]):
    def in_order(self) -> Self:
        return self.order_by("name", "id")


class Counterparty(CompanyOwned, Audited):
    type = models.CharField(max_length=20, choices=CounterpartyType)
    name = models.CharField(max_length=300)
    external_id = models.CharField(max_length=200, null=True)  # noqa: DJ001

    objects = CounterpartyQuerySet.as_manager()

    class Meta:
        verbose_name_plural = "counterparties"
        constraints = [
            models.CheckConstraint(condition=Q(type__in=CounterpartyType.values), name="counterparty_type_known"),
            models.UniqueConstraint(
                fields=["company", "type", "external_id"],
                condition=Q(external_id__isnull=False),
                name="counterparty_external_id_once",
            ),
        ]

    def __str__(self) -> str:
        return self.name
