"""Categorization rules, and runs: operations on many transactions that can be undone."""

from datetime import datetime
from decimal import Decimal
from typing import Any, Self
from uuid import UUID

from django.contrib.postgres.aggregates import ArrayAgg, JSONBAgg
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import F, OuterRef, Q, Subquery
from django.db.models.functions import Cast, JSONObject

from companies.models import Audited, CompanyForeignKey, CompanyOwned, CompanyOwnedQuerySet, Currency, parse_id
from ledger.calc.recognition import DateRule, PeriodStart
from ledger.models.accounts import Account
from ledger.models.categories import Category, Counterparty, PlType

DATE_RULE_CHOICES = [(rule.value, rule.value) for rule in DateRule]
TEXT_CONDITIONS = ("from_to", "description", "text")  # `text` matches either of the others
MAX_PERCENT = Decimal(100)
MAX_SERVICE_MONTHS = 360  # 30 years, as for categorizations
SPLIT_COLUMNS = ("category_id", "pl_type", "percent", "amount")


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


class CounterpartyFrom(models.TextChoices):
    FROM_TO = "fromTo"  # the counterparty that fromTo names


def build_text_condition_check(name: str) -> Q:
    """Return the check that a text condition has both an operator and a value, or neither."""
    is_unset = {f"{name}_operator__isnull": True, f"{name}_value__isnull": True}
    is_complete = {f"{name}_operator__in": Operator.values, f"{name}_value__isnull": False}
    return Q(**is_unset) | Q(**{f"{name}_operator__isnull": False}, **is_complete)


class CategorizationRuleQuerySet(CompanyOwnedQuerySet["CategorizationRule"]):
    def in_display_order(self) -> Self:
        """Return rules in the order in which they are applied."""
        return self.order_by("order", "id")

    def enabled(self) -> Self:
        return self.filter(enabled=True)

    def with_details(self, company_id: UUID) -> Self:
        """Annotate account_ids (None if the rule applies to all accounts) and split_rows, and join counterparties."""
        own_accounts = RuleAccount.objects.for_company(company_id).filter(rule=OuterRef("id")).order_by().values("rule")
        ids = Subquery(own_accounts.annotate(ids=ArrayAgg("account_id", order_by="account_id")).values("ids"))
        own_splits = RuleSplit.objects.for_company(company_id).filter(rule=OuterRef("id")).order_by().values("rule")
        columns = {name: Cast(name, models.TextField()) for name in SPLIT_COLUMNS}  # text keeps every decimal
        splits = own_splits.annotate(rows=JSONBAgg(JSONObject(**columns), order_by="position")).values("rows")
        return self.annotate(account_ids=ids, split_rows=Subquery(splits)).select_related(
            "counterparty", "given_counterparty"
        )


class CategorizationRule(CompanyOwned, Audited):
    name = models.CharField(max_length=200)
    enabled = models.BooleanField(default=True)
    disabled_reason = models.CharField(max_length=20, choices=DisabledReason, null=True)  # noqa: DJ001 - a person's will
    order = models.IntegerField(default=0)
    # Conditions; null matches anything.
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
    # Action.
    category = CompanyForeignKey(Category, null=True)  # null if it was deleted
    pl_type = models.CharField(max_length=10, choices=PlType)
    given_counterparty = CompanyForeignKey(Counterparty, null=True)
    date_rule = models.CharField(max_length=20, choices=DATE_RULE_CHOICES, default=DateRule.TRANSACTION_DATE.value)
    rule_start_date = models.DateField(null=True)
    rule_end_date = models.DateField(null=True)
    rule_invoice_date = models.DateField(null=True)
    pass_through_tax_percent = models.DecimalField(max_digits=7, decimal_places=4, null=True)
    counterparty_from = models.CharField(max_length=10, choices=CounterpartyFrom, null=True)  # noqa: DJ001
    service_period_months = models.SmallIntegerField(null=True)
    service_period_start = models.CharField(  # noqa: DJ001
        max_length=10, choices=[(start.value, start.value) for start in PeriodStart], null=True
    )
    # Statistics.
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
            *(
                models.CheckConstraint(condition=build_text_condition_check(name), name=f"rule_{name}_whole")
                for name in TEXT_CONDITIONS
            ),
            models.CheckConstraint(condition=Q(direction__in=Direction.values), name="rule_direction_known"),
            models.CheckConstraint(condition=Q(currency__in=Currency.values), name="rule_currency_known"),
            models.CheckConstraint(
                condition=Q(min_amount__gte=0) & Q(max_amount__gte=0), name="rule_amounts_without_sign"
            ),
            models.CheckConstraint(condition=Q(min_amount__lte=F("max_amount")), name="rule_amounts_in_order"),
            models.CheckConstraint(condition=Q(pl_type__in=PlType.values), name="rule_pl_type_known"),
            models.CheckConstraint(
                condition=Q(date_rule__in=[rule for rule, _ in DATE_RULE_CHOICES]), name="rule_date_rule_known"
            ),
            models.CheckConstraint(condition=Q(rule_start_date__lte=F("rule_end_date")), name="rule_period_in_order"),
            models.CheckConstraint(
                condition=Q(pass_through_tax_percent__gte=0, pass_through_tax_percent__lte=MAX_PERCENT),
                name="rule_tax_percent_in_range",
            ),
            models.CheckConstraint(
                condition=Q(disabled_reason__in=DisabledReason.values), name="rule_disabled_reason_known"
            ),
            models.CheckConstraint(
                condition=Q(counterparty_from__isnull=True)
                | Q(counterparty_from__in=CounterpartyFrom.values, given_counterparty__isnull=True),
                name="rule_counterparty_once",
            ),
            models.CheckConstraint(
                condition=Q(service_period_months__isnull=True, service_period_start__isnull=True)
                | Q(
                    service_period_months__gte=1,
                    service_period_months__lte=MAX_SERVICE_MONTHS,
                    service_period_start__isnull=False,
                    service_period_start__in=[start.value for start in PeriodStart],
                    date_rule=DateRule.TRANSACTION_DATE.value,
                ),
                name="rule_service_period_whole",
            ),
            models.CheckConstraint(
                condition=Q(enabled=False) | Q(category__isnull=False, disabled_reason__isnull=True),
                name="rule_enabled_has_category",
            ),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def source_note(self) -> str:
        """The `sourceNote` of categorizations that the rule assigned."""
        return f"{RULE_NOTE_PREFIX}{self.id}"

    @property
    def unversioned_values(self) -> str:
        """The match statistics: they are a part of the version of the rule."""
        return f"{self.matched_count} {self.last_matched_time}"

    @property
    def conditions(self) -> dict[str, Any]:
        texts = {name: self.get_text_condition(name) for name in TEXT_CONDITIONS}
        return texts | {
            "account_ids": getattr(self, "account_ids", None),
            "direction": self.direction,
            "min_amount": self.min_amount,
            "max_amount": self.max_amount,
            "currency": self.currency,
            "counterparty_id": self.counterparty_id,
        }

    def get_text_condition(self, name: str) -> dict[str, str] | None:
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
    def service_period(self) -> dict[str, Any] | None:
        if self.service_period_months is None:
            return None
        return {"months": self.service_period_months, "start": self.service_period_start}

    @property
    def splits(self) -> list[dict[str, Any]]:
        """Its splits in order, as ``with_details`` annotates them."""
        return [
            {
                "category_id": parse_id(row["category_id"] or ""),
                "pl_type": row["pl_type"],
                "percent": Decimal(row["percent"]) if row["percent"] else None,
                "amount_value": Decimal(row["amount"]) if row["amount"] else None,
            }
            for row in getattr(self, "split_rows", None) or []
        ]

    @property
    def action(self) -> dict[str, Any]:
        counterparty = self.given_counterparty
        return {
            "category_id": self.category_id,
            "pl_type": self.pl_type,
            "counterparty": {"type": counterparty.type, "id": counterparty.id} if counterparty else None,
            "counterparty_from": self.counterparty_from,
            "using_date_rule": self.using_date_rule,
            "service_period": self.service_period,
            "pass_through_tax_percent": self.pass_through_tax_percent,
            "splits": self.splits,
        }


RULE_NOTE_PREFIX = "rule:"  # followed by the rule's id


class RuleAccount(CompanyOwned):
    """A rule applies to the transactions of an account."""

    rule = CompanyForeignKey(CategorizationRule, when_deleted="cascade")
    account = CompanyForeignKey(Account)

    objects = CompanyOwnedQuerySet.as_manager()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["company", "rule", "account"], name="rule_account_once")]
        indexes = [models.Index(fields=["company", "account"], name="rule_account_by_account")]

    def __str__(self) -> str:
        return f"{self.rule_id} on {self.account_id}"


class RuleSplit(CompanyOwned):
    """A share of the amount that a rule assigns to another category than its own."""

    rule = CompanyForeignKey(CategorizationRule, when_deleted="cascade")
    position = models.SmallIntegerField()
    category = CompanyForeignKey(Category, null=True)  # null if it was deleted
    pl_type = models.CharField(max_length=10, choices=PlType)
    percent = models.DecimalField(max_digits=7, decimal_places=4, null=True)
    amount = models.DecimalField(max_digits=19, decimal_places=4, null=True)  # without sign

    objects = CompanyOwnedQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["company", "rule", "position"], name="rule_split_once"),
            models.CheckConstraint(condition=Q(pl_type__in=PlType.values), name="rule_split_pl_type_known"),
            models.CheckConstraint(
                condition=Q(percent__isnull=True, amount__isnull=False, amount__gt=0)
                | Q(amount__isnull=True, percent__isnull=False, percent__gt=0, percent__lte=MAX_PERCENT),
                name="rule_split_one_share",
            ),
        ]
        indexes = [
            models.Index(
                fields=["company", "category"], condition=Q(category__isnull=False), name="rule_split_by_category"
            )
        ]

    def __str__(self) -> str:
        return f"{self.percent or self.amount} of {self.rule_id}"


class BulkOperation(models.TextChoices):
    RULES = "rules"
    CATEGORIZE = "categorize"
    UNCATEGORIZE = "uncategorize"
    DELETE = "delete"


class CategorizationRun(CompanyOwned):
    """An operation on many transactions that can be undone.

    Categorizations assigned by rules refer to their run; of manual operations `TransactionSnapshot` has the
    earlier state.
    """

    act = models.CharField(max_length=20, choices=BulkOperation, default=BulkOperation.RULES)
    created_time = models.DateTimeField()
    created_user_id = models.CharField(max_length=64, null=True)  # noqa: DJ001 - null on the wire
    affected = models.IntegerField(default=0)

    objects = CompanyOwnedQuerySet.as_manager()

    class Meta:
        constraints = [models.CheckConstraint(condition=Q(act__in=BulkOperation.values), name="run_act_known")]

    def __str__(self) -> str:
        return f"{self.affected} at {self.created_time}"

    @property
    def last_updated_time(self) -> datetime:
        """A run is created and undone, never changed."""
        return self.created_time

    @property
    def is_manual(self) -> bool:
        return self.act != BulkOperation.RULES


class TransactionSnapshot(CompanyOwned):
    """A transaction before a manual bulk operation: its categorizations, and its row if it was deleted."""

    run = CompanyForeignKey(CategorizationRun, when_deleted="cascade")
    transaction_id = models.UUIDField()  # no foreign key: the operation may have deleted it
    auto_assigned = models.BooleanField()
    facts = models.JSONField(null=True)  # its row, if it was deleted
    parts = models.JSONField()
    file_ids = ArrayField(models.UUIDField(), default=list)  # files of a deleted transaction

    objects = CompanyOwnedQuerySet.as_manager()

    class Meta:
        db_table = "ledger_transactionbefore"
        indexes = [
            models.Index(fields=["company", "run", "transaction_id"], name="transaction_before_by_run"),
            models.Index(fields=["company", "transaction_id"], name="before_by_transaction"),
        ]

    def __str__(self) -> str:
        return f"{self.transaction_id} before {self.run_id}"
