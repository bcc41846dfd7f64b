"""Planned transactions and overrides of their occurrences."""

import datetime as dt
from collections.abc import Iterable
from typing import Any, Self
from uuid import UUID

from django.db import models
from django.db.models import F, Q, Value
from django.db.models.fields.json import KeyTextTransform
from django.db.models.functions import Cast, Coalesce, Least

from companies.models import (
    Audited,
    CompanyForeignKey,
    CompanyOwned,
    CompanyOwnedQuerySet,
    Currency,
    build_amount_condition,
)
from ledger.calc.recognition import DateRule
from ledger.models import MAX_PAYMENT_TERMS, Account, Category, Counterparty, CounterpartyType
from planning.calc.expected_dates import ExpectedDate, InvoiceDates
from planning.calc.recurrence import OccurrencePatch, RecurrenceRule, widen_window_by_weekend
from planning.models.invoice_imports import InvoiceImport

MAX_INTERVAL = 1000  # the API's limit
DATE_RULE_CHOICES = [(rule.value, rule.value) for rule in DateRule]


class PlannedSource(models.TextChoices):
    MANUAL = "manual"  # a user
    API = "api"  # an API key or an app


class Frequency(models.TextChoices):
    DAY = "day"
    WEEK = "week"
    MONTH = "month"
    YEAR = "year"


MONTHLY_FREQUENCIES = (Frequency.MONTH, Frequency.YEAR)


class SettledBy(models.TextChoices):
    TRANSACTION = "transaction"  # one transaction settles one occurrence
    CATEGORY = "category"  # an occurrence is a month's total, settled by all bookings in its category


class WeekendShift(models.TextChoices):
    """On which day an occurrence of a weekend is expected."""

    NONE = "none"
    BEFORE = "before"  # the Friday before
    AFTER = "after"  # the Monday after


# A receivable or payable, paid or not.
INVOICE = Q(invoice_date__isnull=False, frequency__isnull=True, settled_by=SettledBy.TRANSACTION.value)


class AddDays(models.Func):
    """A date and a number of days after it; PostgreSQL's calendar goes beyond Python's."""

    template = "(%(expressions)s)"
    arg_joiner = " + "
    output_field = models.DateField()


class PlannedTransactionQuerySet(CompanyOwnedQuerySet["PlannedTransaction"]):
    def with_counterparty(self) -> Self:
        return self.select_related("counterparty")

    def invoices(self) -> Self:
        """Receivables and payables, paid ones included: planned once, with an invoice date."""
        return self.filter(INVOICE)

    def exclude_invoices(self) -> Self:
        """What is neither receivable nor payable."""
        return self.exclude(INVOICE)

    def changed_since_import(self) -> Self:
        """Those that were changed since they were imported from a file."""
        return self.filter(last_updated_time__gt=F("created_time"))

    def with_due_dates(self) -> Self:
        """Annotate `due_date` of invoices: the one stated, else invoice date and terms, else the start date."""
        stated = Cast(KeyTextTransform("due_date", "external_data"), models.DateField())
        terms = Coalesce("payment_terms", "counterparty__payment_terms")
        due_date = Coalesce(stated, AddDays(F("invoice_date"), terms), "start_date")
        return self.annotate(due_date=Least(due_date, Value(dt.date.max, models.DateField())))

    def overlapping(self, company_id: UUID, start: dt.date, end: dt.date) -> Self:
        """Those that can have an occurrence in [start, end], moved ones included."""
        # The company is a value: in an OR, the planner does not pass the outer query's condition to the subquery.
        start, end = widen_window_by_weekend(start, end)
        moved_in = PlannedOverride.objects.for_company(company_id).filter(date__range=(start, end)).values("planned_id")
        goes_on = Q(frequency__isnull=False) & (Q(end_date=None) | Q(end_date__gte=start))
        # lastDayOfMonth moves an occurrence up to 30 days after startDate, never before it: the start is a safe bound.
        planned_in = Q(start_date__lte=end) & (Q(start_date__gte=start) | goes_on)
        # Open invoices are expected on days that their counterparty's history tells; paid ones stay on their due date.
        invoice_in = INVOICE & (Q(is_closed=False) | Q(due_date__range=(start, end)))
        return self.with_due_dates().filter((planned_in & ~INVOICE) | invoice_in | Q(id__in=moved_in))


class PlannedTransaction(CompanyOwned, Audited):
    """A planned transaction: when it recurs, and the amount expected each time."""

    account = CompanyForeignKey(Account, null=True)  # null once the account is closed; the payment stays expected
    # The other own account of a transfer: money out of `account` arrives here, money in comes from here.
    transfer_account = CompanyForeignKey(Account, null=True)
    name = models.CharField(max_length=300)
    start_date = models.DateField()
    amount_value = models.DecimalField(max_digits=19, decimal_places=4)  # negative is money out
    amount_currency = models.CharField(max_length=3, choices=Currency)
    pass_through_tax_amount = models.DecimalField(max_digits=19, decimal_places=4, null=True)  # part of the amount
    category = CompanyForeignKey(Category, null=True)
    counterparty = CompanyForeignKey(Counterparty, null=True)
    rule = models.CharField(max_length=20, choices=DATE_RULE_CHOICES, default=DateRule.TRANSACTION_DATE.value)
    rule_start_date = models.DateField(null=True)  # of servicePeriod and custom
    rule_end_date = models.DateField(null=True)
    rule_invoice_date = models.DateField(null=True)
    frequency = models.CharField(max_length=5, choices=Frequency, null=True)  # noqa: DJ001 - null is once
    interval = models.SmallIntegerField(default=1)
    last_day_of_month = models.BooleanField(default=False)
    weekend_shift = models.CharField(max_length=6, choices=WeekendShift, default=WeekendShift.NONE.value)
    end_date = models.DateField(null=True)  # included; no end date and no count: no end
    end_count = models.IntegerField(null=True)
    source = models.CharField(max_length=10, choices=PlannedSource)
    external_id = models.CharField(max_length=200, null=True)  # noqa: DJ001 - null on the wire
    external_subscription_id = models.CharField(max_length=200, null=True)  # noqa: DJ001
    external_invoice_id = models.CharField(max_length=200, null=True)  # noqa: DJ001
    invoice_date = models.DateField(null=True)
    payment_terms = models.SmallIntegerField(null=True)  # days after the invoice date; null: the counterparty's
    service_start_date = models.DateField(null=True)
    service_end_date = models.DateField(null=True)
    external_data = models.JSONField(null=True)
    invoice_import = CompanyForeignKey(InvoiceImport, null=True)  # the file that it came from
    auto_settle = models.BooleanField(default=True)  # a transaction of the same amount settles it
    settled_by = models.CharField(max_length=11, choices=SettledBy, default=SettledBy.TRANSACTION.value)
    # Derived, where it occurs once: what is paid or written off, and whether nothing is open.
    settled_value = models.DecimalField(max_digits=19, decimal_places=4, default=0)
    is_closed = models.BooleanField(default=False)

    overrides: dict[dt.date, "PlannedOverride"]  # by original date; set by `attach_overrides`
    expected: ExpectedDate | None = None  # of an invoice; set by `attach_expected_dates`

    objects = PlannedTransactionQuerySet.as_manager()

    class Meta:
        indexes = [
            models.Index(fields=["company", "account"], name="planned_by_account"),
            models.Index(
                fields=["company", "transfer_account"],
                condition=Q(transfer_account__isnull=False),
                name="planned_by_transfer_account",
            ),
            models.Index(
                fields=["company", "category"], condition=Q(category__isnull=False), name="planned_by_category"
            ),
            models.Index(
                fields=["company", "counterparty"],
                condition=Q(counterparty__isnull=False),
                name="planned_by_counterparty",
            ),
            models.Index(
                fields=["company", "counterparty"], condition=INVOICE & Q(is_closed=False), name="open_invoices"
            ),
            models.Index(
                fields=["company", "invoice_import"],
                condition=Q(invoice_import__isnull=False),
                name="planned_by_invoice_import",
            ),
        ]
        constraints = [
            models.CheckConstraint(condition=Q(source__in=PlannedSource.values), name="planned_source_known"),
            models.CheckConstraint(condition=Q(amount_currency__in=Currency.values), name="planned_currency_known"),
            models.CheckConstraint(condition=build_amount_condition("amount_value"), name="planned_amount_a_number"),
            models.CheckConstraint(
                condition=Q(rule__in=[rule for rule, _ in DATE_RULE_CHOICES]), name="planned_rule_known"
            ),
            models.CheckConstraint(
                condition=Q(rule_start_date__lte=F("rule_end_date")), name="planned_rule_period_in_order"
            ),
            models.CheckConstraint(
                condition=Q(service_start_date__lte=F("service_end_date")), name="planned_service_period_in_order"
            ),
            models.CheckConstraint(condition=Q(frequency__in=Frequency.values), name="planned_frequency_known"),
            models.CheckConstraint(
                condition=Q(interval__gte=1, interval__lte=MAX_INTERVAL), name="planned_interval_in_range"
            ),
            models.CheckConstraint(condition=Q(end_count__gte=1), name="planned_count_positive"),
            models.CheckConstraint(
                condition=Q(weekend_shift__in=WeekendShift.values), name="planned_weekend_shift_known"
            ),
            models.CheckConstraint(
                condition=Q(payment_terms__gte=0, payment_terms__lte=MAX_PAYMENT_TERMS), name="planned_terms_in_range"
            ),
            models.CheckConstraint(
                condition=Q(end_date__isnull=True) | Q(end_count__isnull=True), name="planned_ends_once"
            ),
            models.CheckConstraint(
                condition=Q(last_day_of_month=False) | Q(frequency__isnull=False, frequency__in=MONTHLY_FREQUENCIES),
                name="planned_last_day_of_months_only",
            ),
            models.CheckConstraint(
                condition=Q(frequency__isnull=False)
                | Q(interval=1, last_day_of_month=False, end_date__isnull=True, end_count__isnull=True),
                name="planned_once_has_no_rule",
            ),
            models.CheckConstraint(
                condition=Q(pass_through_tax_amount__isnull=True)
                | Q(
                    amount_value__gte=0,
                    pass_through_tax_amount__gte=0,
                    pass_through_tax_amount__lte=F("amount_value"),
                )
                | Q(
                    amount_value__lt=0,
                    pass_through_tax_amount__lte=0,
                    pass_through_tax_amount__gte=F("amount_value"),
                ),
                name="planned_tax_within_amount",
            ),
            models.CheckConstraint(
                condition=Q(settled_by=SettledBy.TRANSACTION)
                | Q(settled_by=SettledBy.CATEGORY, category__isnull=False),
                name="planned_total_has_category",
            ),
            models.CheckConstraint(
                condition=Q(transfer_account__isnull=True)
                | Q(category__isnull=True, invoice_date__isnull=True, settled_by=SettledBy.TRANSACTION),
                name="planned_transfer_is_no_flow",
            ),
            models.CheckConstraint(
                condition=Q(account__isnull=True)
                | Q(transfer_account__isnull=True)
                | ~Q(account=F("transfer_account")),
                name="planned_transfer_has_two_accounts",
            ),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def is_total(self) -> bool:
        """Whether its occurrences stand for a month's total in its category."""
        return self.settled_by == SettledBy.CATEGORY

    @property
    def is_invoice(self) -> bool:
        """Whether it is a receivable or payable."""
        return self.invoice_date is not None and self.frequency is None and not self.is_total

    def build_invoice_dates(self) -> InvoiceDates:
        """Return the dates of an invoice for calculations; it has its overrides and counterparty attached."""
        external_data, override = self.external_data or {}, self.overrides.get(self.start_date)
        terms = self.payment_terms
        if terms is None and self.counterparty is not None:
            terms = self.counterparty.payment_terms
        return InvoiceDates(
            start_date=self.start_date,
            invoice_date=self.invoice_date or self.start_date,
            payment_terms=terms,
            due_date=parse_stored_date(external_data.get("due_date")),
            next_payment_attempt=parse_stored_date(external_data.get("next_payment_attempt_date")),
            set_date=override.date if override is not None else None,
        )

    @property
    def entity_type(self) -> str:
        """Its type in the audit log and in events."""
        return "invoice" if self.is_invoice else "plannedTransaction"

    @property
    def is_credit_note(self) -> bool:
        """Whether it is a customer's or vendor's invoice in the other direction."""
        if not self.is_invoice or self.counterparty is None:
            return False
        sign = {CounterpartyType.CUSTOMER: 1, CounterpartyType.VENDOR: -1}.get(self.counterparty.type, 0)
        return bool(self.amount_value * sign < 0)

    @property
    def using_date_rule(self) -> dict[str, Any]:
        return {
            "type": self.rule,
            "start_date": self.rule_start_date,
            "end_date": self.rule_end_date,
            "invoice_date": self.rule_invoice_date,
        }

    @property
    def recurrence(self) -> dict[str, Any] | None:
        if self.frequency is None:
            return None
        kind = "date" if self.end_date else "count" if self.end_count else "never"
        return {
            "frequency": self.frequency,
            "interval": self.interval,
            "last_day_of_month": self.last_day_of_month,
            "end": {"type": kind, "date": self.end_date, "count": self.end_count},
        }

    def recurrence_rule(self) -> RecurrenceRule:
        """Return its recurrence for calculations. A planned total stands for a month, which a weekend does not move."""
        return RecurrenceRule(
            start=self.start_date,
            frequency=self.frequency,  # type: ignore[arg-type]
            interval=self.interval,
            last_day_of_month=self.last_day_of_month,
            end_date=self.end_date,
            count=self.end_count,
            weekend_shift="none" if self.is_total else self.weekend_shift,  # type: ignore[arg-type]
        )


def parse_stored_date(text: str | None) -> dt.date | None:
    """Parse a date of the external data, which is stored as text."""
    return dt.date.fromisoformat(text) if text else None


class PlannedOverrideQuerySet(CompanyOwnedQuerySet["PlannedOverride"]):
    def by_planned(self, planned_ids: Iterable[Any]) -> dict[Any, dict[dt.date, "PlannedOverride"]]:
        """Return planned transaction id → original date → override, in order of dates."""
        overrides_by_planned: dict[Any, dict[dt.date, PlannedOverride]] = {}
        for row in self.filter(planned__in=planned_ids).order_by("planned_id", "original_date"):
            overrides_by_planned.setdefault(row.planned_id, {})[row.original_date] = row
        return overrides_by_planned


class PlannedOverride(CompanyOwned):
    """What differs about one occurrence; null is as in the planned transaction."""

    planned = CompanyForeignKey(PlannedTransaction, when_deleted="cascade")
    original_date = models.DateField()  # the day generated by the recurrence
    skipped = models.BooleanField(null=True)
    date = models.DateField(null=True)
    amount_value = models.DecimalField(max_digits=19, decimal_places=4, null=True)
    account = CompanyForeignKey(Account, null=True)
    category = CompanyForeignKey(Category, null=True)
    name = models.CharField(max_length=300, null=True)  # noqa: DJ001

    objects = PlannedOverrideQuerySet.as_manager()

    class Meta:
        indexes = [
            models.Index(fields=["company", "account"], condition=Q(account__isnull=False), name="override_by_account"),
            models.Index(
                fields=["company", "category"], condition=Q(category__isnull=False), name="override_by_category"
            ),
            models.Index(fields=["company", "date"], condition=Q(date__isnull=False), name="override_by_moved_date"),
        ]
        constraints = [
            models.UniqueConstraint(fields=["company", "planned", "original_date"], name="override_once_a_date"),
        ]

    def __str__(self) -> str:
        return f"{self.original_date} of {self.planned_id}"

    def to_patch(self) -> OccurrencePatch:
        """Return what differs, for calculations; empty if nothing does."""
        return build_patch(getattr(self, name) for name in OVERRIDE_COLUMNS)


def build_patch(values: Iterable[Any]) -> OccurrencePatch:
    """Build a patch from values of OVERRIDE_COLUMNS."""
    named_values = zip(OVERRIDE_COLUMNS, values, strict=True)
    return OccurrencePatch(**{name: value for name, value in named_values if value is not None})  # type: ignore[typeddict-item]


def attach_overrides(rows: list[PlannedTransaction]) -> list[PlannedTransaction]:
    """Attach to each of a company's planned transactions its overrides; one statement for all."""
    overrides_by_planned: dict[Any, dict[dt.date, PlannedOverride]] = {}
    if rows:
        overrides = PlannedOverride.objects.for_company(rows[0].company_id)
        overrides_by_planned = overrides.by_planned([row.id for row in rows])
    for row in rows:
        row.overrides = overrides_by_planned.get(row.id, {})
    return rows


OVERRIDE_COLUMNS = ("skipped", "date", "amount_value", "account_id", "category_id", "name")
