"""Subscriptions and the append-only events that set their amount."""

from datetime import date
from typing import Self
from uuid import UUID

from django.db import models
from django.db.models import OuterRef, Q, Subquery
from django.db.models.functions import Cast, JSONObject
from django.utils.translation import gettext_lazy as _

from companies.errors import ConflictError
from companies.models import (
    Audited,
    CompanyForeignKey,
    CompanyOwned,
    CompanyOwnedQuerySet,
    Currency,
    build_amount_condition,
)
from ledger.models.categories import Counterparty
from ledger.models.external_ids import ExternalIdTaken
from ledger.models.products import Product
from ledger.models.subscription_imports import SubscriptionEventImport


class BillingPeriod(models.TextChoices):
    DAY = "day"
    WEEK = "week"
    MONTH = "month"
    YEAR = "year"


class SubscriptionQuerySet(CompanyOwnedQuerySet["Subscription"]):
    def with_current_terms(self, company_id: UUID, today: date) -> Self:
        """Annotate `standing`: amount, currency, interval and count of the latest event in effect today, or None."""
        latest = (
            SubscriptionEvent.objects.for_company(company_id)
            .filter(subscription=OuterRef("id"))
            .not_retracted()
            .filter(effective_date__lte=today)
            .order_by("-effective_date", "-id")
        )
        terms = JSONObject(
            amount=Cast("amount_value", models.TextField()),
            currency="amount_currency",
            interval="interval",
            interval_count="interval_count",
        )
        return self.annotate(standing=Subquery(latest.values(said=terms)[:1]))


class SubscriptionInUse(ConflictError):
    """The subscription has active events. Retract them first."""

    code = "subscription_in_use"


class Subscription(CompanyOwned, Audited):
    customer = CompanyForeignKey(Counterparty)
    product = CompanyForeignKey(Product, null=True)
    external_id = models.CharField(max_length=200, null=True)  # noqa: DJ001 - null on the wire

    in_use = SubscriptionInUse
    objects = SubscriptionQuerySet.as_manager()

    class Meta:
        indexes = [
            models.Index(fields=["company", "customer"], name="subscription_by_customer"),
            models.Index(
                fields=["company", "product"], condition=Q(product__isnull=False), name="subscription_by_product"
            ),
        ]
        constraints = [
            models.UniqueConstraint(
                fields=["company", "external_id"],
                condition=Q(external_id__isnull=False),
                name="subscription_external_id_once",
                violation_error_code=ExternalIdTaken.code,
                violation_error_message=_("Another subscription already has this external ID."),
            )
        ]

    def __str__(self) -> str:
        return self.external_id or str(self.id)

    @property
    def unversioned_values(self) -> str:
        """The annotated terms: they are a part of the version, which changes with events and with the day."""
        return repr(getattr(self, "standing", None))


class SubscriptionEventQuerySet(CompanyOwnedQuerySet["SubscriptionEvent"]):
    def not_retracted(self) -> Self:
        """Return events that were not retracted."""
        return self.filter(retracted_time__isnull=True)


class SubscriptionEvent(CompanyOwned, Audited):
    """From `effective_date` on the subscription has this amount per interval; 0 ends it.

    Of two events of one subscription on one day the later one counts; ids are in the order of creation.
    """

    subscription = CompanyForeignKey(Subscription)
    effective_date = models.DateField()
    committed_date = models.DateField()
    amount_value = models.DecimalField(max_digits=19, decimal_places=4)
    amount_currency = models.CharField(max_length=3, choices=Currency)
    interval = models.CharField(max_length=5, choices=BillingPeriod, default=BillingPeriod.MONTH)
    interval_count = models.SmallIntegerField(default=1)
    external_id = models.CharField(max_length=200, null=True)  # noqa: DJ001 - null on the wire
    retracted_time = models.DateTimeField(null=True)
    event_import = CompanyForeignKey(SubscriptionEventImport, null=True)

    objects = SubscriptionEventQuerySet.as_manager()

    class Meta:
        indexes = [
            models.Index(fields=["company", "subscription"], name="subscription_event_by_sub"),
            models.Index(
                fields=["company", "event_import"],
                condition=Q(event_import__isnull=False),
                name="subscription_event_by_import",
            ),
        ]
        constraints = [
            models.UniqueConstraint(
                # The id of a retracted event can be used again by its correction.
                fields=["company", "external_id"],
                condition=Q(external_id__isnull=False, retracted_time__isnull=True),
                name="subscription_event_external_id_once",
                violation_error_code=ExternalIdTaken.code,
                violation_error_message=_("Another event already has this external ID."),
            ),
            models.CheckConstraint(condition=Q(amount_value__gte=0), name="subscription_event_not_negative"),
            models.CheckConstraint(
                condition=build_amount_condition("amount_value"), name="subscription_event_amount_a_number"
            ),
            models.CheckConstraint(condition=Q(interval__in=BillingPeriod.values), name="subscription_event_interval"),
            models.CheckConstraint(condition=Q(interval_count__gte=1), name="subscription_event_interval_count"),
            models.CheckConstraint(
                condition=Q(amount_currency__in=Currency.values), name="subscription_event_currency_known"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.effective_date} {self.amount_value} {self.amount_currency}"
