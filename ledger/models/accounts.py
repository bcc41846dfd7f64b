"""Accounts (bank, cash and others) and the groups they are shown in."""

from typing import Self

from django.db import models
from django.db.models import Q

from companies.errors import ConflictError
from companies.models import Audited, CompanyForeignKey, CompanyOwned, CompanyOwnedQuerySet, Currency


class AccountType(models.TextChoices):
    BANK = "bank"
    CASH = "cash"
    CREDIT_CARD = "creditCard"
    LOAN = "loan"
    TRANSIT = "transit"
    OTHER = "other"


CASH_ACCOUNT_TYPES = {AccountType.BANK, AccountType.CASH}  # default; an account can override it


class ImportType(models.TextChoices):
    MANUAL = "manual"
    CSV = "csv"
    BANK = "bank"
    API = "api"


class AccountGroupNotEmpty(ConflictError):
    """The group still has accounts, including archived ones. Move them to another group first."""

    code = "account_group_not_empty"


class AccountGroupQuerySet(CompanyOwnedQuerySet["AccountGroup"]):
    def active(self) -> Self:
        return self.filter(archived=False)

    def in_display_order(self) -> Self:
        return self.order_by("order", "name", "id")


class AccountGroup(CompanyOwned, Audited):
    name = models.CharField(max_length=200)
    archived = models.BooleanField(default=False)
    order = models.IntegerField(default=0)

    in_use = AccountGroupNotEmpty
    objects = AccountGroupQuerySet.as_manager()

    def __str__(self) -> str:
        return self.name


class AccountNotEmpty(ConflictError):
    """The account has transactions. Archive it, or delete the transactions first."""

    code = "account_not_empty"


class AccountQuerySet(CompanyOwnedQuerySet["Account"]):
    def active(self) -> Self:
        return self.filter(archived=False)

    def cash(self) -> Self:
        """Return accounts whose balance counts as cash."""
        return self.filter(include_in_cash_balance=True)

    def in_display_order(self) -> Self:
        return self.order_by("order", "name", "id")


class Account(CompanyOwned, Audited):
    type = models.CharField(max_length=20, choices=AccountType)
    name = models.CharField(max_length=200)
    account_number = models.CharField(max_length=64, null=True)  # noqa: DJ001 - null on the wire
    include_in_cash_balance = models.BooleanField()
    cash_chosen = models.BooleanField(default=False)  # a user chose include_in_cash_balance; else it follows the type
    account_group = CompanyForeignKey(AccountGroup, null=True)
    archived = models.BooleanField(default=False)
    expected_annual_return = models.IntegerField(null=True)
    order = models.IntegerField(default=0)
    default_currency = models.CharField(max_length=3, choices=Currency)
    default_category = CompanyForeignKey("ledger.Category", null=True)
    import_type = models.CharField(max_length=20, choices=ImportType, default=ImportType.MANUAL)
    transit_currency = models.CharField(max_length=3, choices=Currency, null=True)  # noqa: DJ001
    import_settings = models.JSONField(null=True)
    bank_connection = models.JSONField(null=True)  # written by integrations, in the shape of the API

    in_use = AccountNotEmpty
    objects = AccountQuerySet.as_manager()

    class Meta:
        indexes = [models.Index(fields=["company", "account_group"], name="account_by_group")]
        constraints = [
            models.CheckConstraint(condition=Q(type__in=AccountType.values), name="account_type_known"),
            models.CheckConstraint(condition=Q(import_type__in=ImportType.values), name="account_import_type_known"),
            models.CheckConstraint(
                condition=Q(default_currency__in=Currency.values), name="account_default_currency_known"
            ),
            models.CheckConstraint(
                condition=Q(transit_currency__in=Currency.values), name="account_transit_currency_known"
            ),
        ]

    def __str__(self) -> str:
        return self.name
