"""Categories with the P&L lines they post to, and counterparties."""

from typing import Any, Self
from uuid import UUID

from django.apps import apps
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Count, Exists, F, ManyToOneRel, OuterRef, Q, Subquery, Value
from django.db.models.functions import Coalesce, Left, Lower
from django.utils.translation import gettext, gettext_lazy, gettext_noop

from companies.errors import ConflictError
from companies.models import Audited, CompanyOwned, CompanyOwnedQuerySet
from ledger import hooks
from ledger.models.external_ids import ExternalIdTaken


class PlType(models.TextChoices):
    """The lines of the profit and loss statement, as service.md 2.4 names them."""

    REVENUE = "revenue"
    COGS = "cogs"
    CAC = "cac"
    PD = "pd"
    GA = "ga"
    NO = "no"
    NEUTRAL = "neutral"


EXPENSE_LINES = (PlType.COGS, PlType.CAC, PlType.PD, PlType.GA)  # shown positive in the statement


TRANSFER_SYSTEM_KEY = "transfer"
# (systemKey, name, emoji) of the categories of a new company, by the P&L line that each posts to.
DEFAULT_CATEGORIES: dict[PlType, list[tuple[str, str, str]]] = {
    PlType.REVENUE: [
        ("revenueRecurring", gettext_noop("Recurring revenue"), "🔁"),
        ("revenueOneOff", gettext_noop("One-off revenue"), "🧾"),
        ("revenueUsage", gettext_noop("Usage-based revenue"), "📈"),
        ("revenueOther", gettext_noop("Other revenue"), "💶"),
    ],
    PlType.COGS: [
        ("hosting", gettext_noop("Hosting"), "☁️"),
        ("support", gettext_noop("Customer support"), "🎧"),
        ("paymentFees", gettext_noop("Payment fees"), "💳"),
    ],
    PlType.CAC: [("marketing", gettext_noop("Marketing"), "📣"), ("sales", gettext_noop("Sales"), "🤝")],
    PlType.PD: [("productDevelopment", gettext_noop("Product development"), "🛠️")],
    PlType.GA: [
        ("officeAndAdmin", gettext_noop("Office and administration"), "🏢"),
        ("professionalServices", gettext_noop("Professional services"), "⚖️"),
    ],
    PlType.NO: [
        ("interest", gettext_noop("Interest"), "🏦"),
        ("incomeTax", gettext_noop("Income tax"), "🏛️"),
        ("grants", gettext_noop("Grants"), "🎁"),
    ],
    PlType.NEUTRAL: [
        (TRANSFER_SYSTEM_KEY, gettext_noop("Transfers"), "↔️"),
        ("initialBalance", gettext_noop("Opening balances"), "🏁"),
        ("taxPayments", gettext_noop("Tax payments"), "🧮"),
        ("financing", gettext_noop("Equity and loans"), "🌱"),
    ],
}
FINANCING_SYSTEM_KEYS = {"financing"}  # default categories that are financing
RENAMED_DEFAULTS = {"Initial balances": "Opening balances"}  # names that older companies have stored
_DEFAULT_NAMES = {name for rows in DEFAULT_CATEGORIES.values() for _, name, _ in rows}
_DEFAULT_EMOJIS: dict[str | None, str] = {key: sign for rows in DEFAULT_CATEGORIES.values() for key, _, sign in rows}


def translate_category_name(name: str) -> str:
    """Return the display name of a category: translated if it is one of the default categories."""
    current_name = RENAMED_DEFAULTS.get(name, name)
    return gettext(current_name) if current_name in _DEFAULT_NAMES else name


def count_using_transactions(company_id: UUID, *, relation: str = "category") -> Any:
    """Return an expression: the number of transactions categorized with an outer category or counterparty."""
    categorizations = apps.get_model("ledger", "Categorization").objects.for_company(company_id)
    rows = categorizations.filter(**{relation: OuterRef("id")}).order_by().values(relation)
    return Coalesce(Subquery(rows.annotate(n=Count("transaction_id", distinct=True)).values("n")), 0)


def count_using_planned_transactions(company_id: UUID) -> Any:
    """Return an expression from the planning app: the number of planned transactions with an outer category."""
    return sum(hooks.count_planned_uses.run(company_id), start=Value(0))


class CategoryQuerySet(CompanyOwnedQuerySet["Category"]):
    def with_usage_counts(self, company_id: UUID) -> Self:
        """Annotate used_transactions, used_planned_transactions and their sum, used; one query."""
        annotated = self.annotate(
            used_transactions=count_using_transactions(company_id),
            used_planned_transactions=count_using_planned_transactions(company_id),
        )
        return annotated.annotate(used=F("used_transactions") + F("used_planned_transactions"))

    def in_display_order(self) -> Self:
        return self.order_by("order", "name", "id")

    def for_system_key(self, key: str) -> Self:
        """Return the category that the service itself uses under a key."""
        return self.filter(system_key=key)


class CategoryInUse(ConflictError):
    """The category is in use. Choose a replacement (replaceWith)."""

    code = "category_in_use"


class Category(CompanyOwned, Audited):
    name = models.CharField(max_length=200)
    emoji = models.CharField(max_length=32, null=True)  # noqa: DJ001 - null on the wire
    pl_types = ArrayField(models.CharField(max_length=10, choices=PlType))
    system = models.BooleanField(default=False)
    system_key = models.CharField(max_length=40, null=True)  # noqa: DJ001
    financing = models.BooleanField(
        default=False
    )  # money from owners and lenders: neither income nor operating cash flow
    order = models.IntegerField(default=0)

    in_use = CategoryInUse
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

    @property
    def display_name(self) -> str:
        """The display name, with the emoji if a user chose one."""
        name = translate_category_name(self.name)
        return f"{self.emoji} {name}" if self.emoji not in (None, "", _DEFAULT_EMOJIS.get(self.system_key)) else name

    @property
    def unversioned_values(self) -> str:
        """The usage counts, if they were annotated: they are a part of the version of the category."""
        counts = (getattr(self, name, "") for name in ("used_transactions", "used_planned_transactions"))
        return " ".join(map(str, counts)).strip()


class CounterpartyType(models.TextChoices):
    CUSTOMER = "customer"
    VENDOR = "vendor"
    EMPLOYEE = "employee"
    OWNER = "owner"
    AUTHORITY = "authority"
    OTHER = "other"


MAX_PAYMENT_TERMS = 999  # days


class CounterpartyQuerySet(CompanyOwnedQuerySet["Counterparty"]):
    def with_transaction_counts(self, company_id: UUID) -> Self:
        """Annotate used_transactions: in how many transactions the counterparty is used."""
        return self.annotate(used_transactions=count_using_transactions(company_id, relation="counterparty"))

    def unused(self, company_id: UUID) -> Self:
        """Those to which no row refers."""
        rows = self
        for relation in Counterparty._meta.get_fields(include_hidden=True):
            if isinstance(relation, ManyToOneRel):
                users: Any = relation.related_model
                references = users._base_manager.filter(company_id=company_id, **{relation.field.name: OuterRef("id")})
                rows = rows.exclude(Exists(references))
        return rows

    def in_display_order(self) -> Self:
        return self.order_by("name", "id")


class CounterpartyInUse(ConflictError):
    """The counterparty is in use by transactions, planned transactions or subscriptions."""

    code = "counterparty_in_use"


class Counterparty(CompanyOwned, Audited):
    type = models.CharField(max_length=20, choices=CounterpartyType)
    name = models.CharField(max_length=300)
    external_id = models.CharField(max_length=200, null=True)  # noqa: DJ001
    payment_terms = models.SmallIntegerField(null=True)  # days after the invoice date

    in_use = CounterpartyInUse
    objects = CounterpartyQuerySet.as_manager()

    class Meta:
        verbose_name_plural = "counterparties"
        indexes = [models.Index("company", Lower(Left("name", 100)), name="counterparty_by_name")]
        constraints = [
            models.CheckConstraint(condition=Q(type__in=CounterpartyType.values), name="counterparty_type_known"),
            models.CheckConstraint(
                condition=Q(payment_terms__gte=0, payment_terms__lte=MAX_PAYMENT_TERMS),
                name="counterparty_terms_in_range",
            ),
            models.UniqueConstraint(
                fields=["company", "type", "external_id"],
                condition=Q(external_id__isnull=False),
                name="counterparty_external_id_once",
                violation_error_code=ExternalIdTaken.code,
                violation_error_message=gettext_lazy("Another counterparty of this type already has this external ID."),
            ),
        ]

    def __str__(self) -> str:
        return self.name
