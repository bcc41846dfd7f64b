"""Rules that say what movements of a kind are for, and the runs that applied them to what was there already."""

from datetime import datetime
from decimal import Decimal
from typing import Any, Self
from uuid import UUID

from django.contrib.postgres.aggregates import ArrayAgg
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import F, OuterRef, Q, Subquery

from companies.models import Audited, CompanyForeignKey, CompanyOwned, CompanyOwnedQuerySet, Currency
from ledger.calc.recognition import DateRule
from ledger.models.accounts import Account
from ledger.models.categories import Category, Counterparty, PlType

DATE_RULES = [(rule.value, rule.value) for rule in DateRule]
TEXTS = ("from_to", "description", "text")  # conditions on texts; ``text`` is either of the others
MOST_PERCENT = Decimal(100)


class Operator(models.TextChoices):
    CONTAINS = "contains"
    EQUALS = "equals"
    STARTS_WITH = "startsWith"
    WHOLE_WORD = "wholeWord"


class Direction(models.TextChoices):
    IN = "in"
    OUT = "out"


class DisabledReason(models.TextChoices):
    CATEGORY_DELETED = "categoryDeleted"
    ACCOUNT_DELETED = "accountDeleted"
    PL_TYPE_LOST = "plTypeLost"  # the category no longer posts to the rule's line


def whole_or_none(name: str) -> Q:
    """A condition on a text has an operator and a value, or neither."""
    none = {f"{name}_operator__isnull": True, f"{name}_value__isnull": True}
    whole = {f"{name}_operator__in": Operator.values, f"{name}_value__isnull": False}
    return Q(**none) | Q(**{f"{name}_operator__isnull": False}, **whole)


class CategorizationRuleQuerySet(CompanyOwnedQuerySet["CategorizationRule"]):
    def in_order(self) -> Self:
        """The order in which they are tried."""
        return self.order_by("order", "id")

    def enabled(self) -> Self:
        return self.filter(enabled=True)

    def with_accounts(self, company_id: UUID) -> Self:
        """Each with account_ids, those that it is limited to, or None; and what its counterparties are."""
        own = RuleAccount.objects.of(company_id).filter(rule=OuterRef("id")).order_by().values("rule")
        ids = Subquery(own.annotate(ids=ArrayAgg("account_id", order_by="account_id")).values("ids"))
        return self.annotate(account_ids=ids).select_related("counterparty", "given_counterparty")


class CategorizationRule(CompanyOwned, Audited):
    name = models.CharField(max_length=200)
    enabled = models.BooleanField(default=True)
    disabled_reason = models.CharField(max_length=20, choices=DisabledReason, null=True)  # noqa: DJ001 - a person's will
    order = models.IntegerField(default=0)
    # Conditions; null asks nothing.
    from_to_operator = models.CharField(max_length=10, choices=Operator, null=True)  # noqa: DJ001
    from_to_value = models.CharField(max_length=200, null=True)  # noqa: DJ001
    description_operator = models.CharField(max_length=10, choices=Operator, null=True)  # noqa: DJ001
    description_value = models.CharField(max_length=200, null=True)  # noqa: DJ001
    text_operator = models.CharField(max_length=10, choices=Operator, null=True)  # noqa: DJ001
    text_value = models.CharField(max_length=200, null=True)  # noqa: DJ001
    direction = models.CharField(max_length=3, choices=Direction, null=True)  # noqa: DJ001
    min_amount = models.DecimalField(max_digits=19, decimal_places=4, null=True)  # without sign
    max_amount = models.DecimalField(max_digits=19, decimal_places=4, null=True)
    currency = models.CharField(max_length=3, choices=Currency, null=True)  # noqa: DJ001
    counterparty = CompanyForeignKey(Counterparty, null=True)
    # What it says.
    category = CompanyForeignKey(Category, null=True)  # null where it was deleted
    pl_type = models.CharField(max_length=10, choices=PlType)
    given_counterparty = CompanyForeignKey(Counterparty, null=True)
    date_rule = models.CharField(max_length=20, choices=DATE_RULES, default=DateRule.TRANSACTION_DATE.value)
    rule_start_date = models.DateField(null=True)
    rule_end_date = models.DateField(null=True)
    rule_invoice_date = models.DateField(null=True)
    pass_through_tax_percent = models.DecimalField(max_digits=7, decimal_places=4, null=True)
    # What it did.
    matched_count = models.IntegerField(default=0)
    last_matched_time = models.DateTimeField(null=True)

    objects = CategorizationRuleQuerySet.as_manager()

    class Meta:
        indexes = [
            models.Index(fields=["company", "order", "id"], name="rule_in_order"),
            models.Index(fields=["company", "category"], name="rule_by_category"),
            models.Index(
                fields=["company", "counterparty"],
                condition=Q(counterparty__isnull=False),
                name="rule_by_counterparty",
            ),
            models.Index(
                fields=["company", "given_counterparty"],
                condition=Q(given_counterparty__isnull=False),
                name="rule_by_given_counterparty",
            ),
        ]
        constraints = [
            *(models.CheckConstraint(condition=whole_or_none(name), name=f"rule_{name}_whole") for name in TEXTS),
            models.CheckConstraint(condition=Q(direction__in=Direction.values), name="rule_direction_known"),
            models.CheckConstraint(condition=Q(currency__in=Currency.values), name="rule_currency_known"),
            models.CheckConstraint(
                condition=Q(min_amount__gte=0) & Q(max_amount__gte=0), name="rule_amounts_without_sign"
            ),
            models.CheckConstraint(condition=Q(min_amount__lte=F("max_amount")), name="rule_amounts_in_order"),
            models.CheckConstraint(condition=Q(pl_type__in=PlType.values), name="rule_pl_type_known"),
            models.CheckConstraint(
                condition=Q(date_rule__in=[rule for rule, _ in DATE_RULES]), name="rule_date_rule_known"
            ),
            models.CheckConstraint(condition=Q(rule_start_date__lte=F("rule_end_date")), name="rule_period_in_order"),
            models.CheckConstraint(
                condition=Q(pass_through_tax_percent__gte=0, pass_through_tax_percent__lte=MOST_PERCENT),
                name="rule_tax_percent_in_range",
            ),
            models.CheckConstraint(
                condition=Q(disabled_reason__in=DisabledReason.values), name="rule_disabled_reason_known"
            ),
            models.CheckConstraint(
                condition=Q(enabled=False) | Q(category__isnull=False, disabled_reason__isnull=True),
                name="rule_enabled_has_category",
            ),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def note(self) -> str:
        """What stands beside the parts that it made: their ``sourceNote``."""
        return f"{RULE_NOTE}{self.id}"

    @property
    def shown_beside(self) -> str:
        """What it did is no change of the rule itself."""
        return f"{self.matched_count} {self.last_matched_time}"

    @property
    def conditions(self) -> dict[str, Any]:
        texts = {name: self.condition_on(name) for name in TEXTS}
        return texts | {
            "account_ids": getattr(self, "account_ids", None),
            "direction": self.direction,
            "min_amount": self.min_amount,
            "max_amount": self.max_amount,
            "currency": self.currency,
            "counterparty_id": self.counterparty_id,
        }

    def condition_on(self, name: str) -> dict[str, str] | None:
        operator = getattr(self, f"{name}_operator")
        return {"operator": operator, "value": getattr(self, f"{name}_value")} if operator else None

    @property
    def using_date_rule(self) -> dict[str, Any]:
        return {
            "type": self.date_rule,
            "start_date": self.rule_start_date,
            "end_date": self.rule_end_date,
            "invoice_date": self.rule_invoice_date,
        }

    @property
    def action(self) -> dict[str, Any]:
        given = self.given_counterparty
        return {
            "category_id": self.category_id,
            "pl_type": self.pl_type,
            "counterparty": {"type": given.type, "id": given.id} if given else None,
            "using_date_rule": self.using_date_rule,
            "pass_through_tax_percent": self.pass_through_tax_percent,
        }


RULE_NOTE = "rule:"  # followed by the rule's id


class RuleAccount(CompanyOwned):
    """A rule holds for movements of an account."""

    rule = CompanyForeignKey(CategorizationRule, when_deleted="cascade")
    account = CompanyForeignKey(Account)

    objects = CompanyOwnedQuerySet.as_manager()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["company", "rule", "account"], name="rule_account_once")]
        indexes = [models.Index(fields=["company", "account"], name="rule_account_by_account")]

    def __str__(self) -> str:
        return f"{self.rule_id} on {self.account_id}"


class RunAct(models.TextChoices):
    RULES = "rules"
    CATEGORIZE = "categorize"
    UNCATEGORIZE = "uncategorize"
    DELETE = "delete"


class CategorizationRun(CompanyOwned):
    """What was done with many transactions at once, so that it can be taken back.

    Of rules that were applied to what was there already, the parts name it; of an act by hand, ``TransactionBefore``
    keeps what it found.
    """

    act = models.CharField(max_length=20, choices=RunAct, default=RunAct.RULES)
    created_time = models.DateTimeField()
    created_user_id = models.CharField(max_length=64, null=True)  # noqa: DJ001 - null on the wire
    affected = models.IntegerField(default=0)

    objects = CompanyOwnedQuerySet.as_manager()

    class Meta:
        constraints = [models.CheckConstraint(condition=Q(act__in=RunAct.values), name="run_act_known")]

    def __str__(self) -> str:
        return f"{self.affected} at {self.created_time}"

    @property
    def last_updated_time(self) -> datetime:
        """It is made, and taken back; nothing of it changes."""
        return self.created_time

    @property
    def by_hand(self) -> bool:
        return self.act != RunAct.RULES


class TransactionBefore(CompanyOwned):
    """What a transaction was before an act by hand on many: its parts as rows, and itself where it was deleted."""

    run = CompanyForeignKey(CategorizationRun, when_deleted="cascade")
    transaction_id = models.UUIDField()  # no reference: the act may have deleted it
    auto_assigned = models.BooleanField()
    facts = models.JSONField(null=True)  # its own row, where it was deleted
    parts = models.JSONField()
    file_ids = ArrayField(models.UUIDField(), default=list)  # documents of one that was deleted

    objects = CompanyOwnedQuerySet.as_manager()

    class Meta:
        indexes = [
            models.Index(fields=["company", "run", "transaction_id"], name="transaction_before_by_run"),
            models.Index(fields=["company", "transaction_id"], name="before_by_transaction"),
        ]

    def __str__(self) -> str:
        return f"{self.transaction_id} before {self.run_id}"
