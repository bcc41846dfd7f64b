"""Addresses that are told of events, and what was sent to them."""

from datetime import datetime
from typing import Self

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Exists, OuterRef, Q

from companies.models import Audited, CompanyForeignKey, CompanyOwned, CompanyOwnedQuerySet, LogMonth
from webhooks.signing import new_salt

LONGEST_URL = 2048  # as the way out takes them
LONGEST_ANSWER = 1024  # what is kept of one


class WebhookEndpointQuerySet(CompanyOwnedQuerySet["WebhookEndpoint"]):
    def in_order(self) -> Self:
        return self.order_by("id")

    def free(self, now: datetime) -> Self:
        """Those that no deliverer has in hand; one that was killed lets go when its time is over."""
        return self.filter(Q(held_until=None) | Q(held_until__lte=now))

    def due(self, now: datetime) -> Self:
        """Those, of all companies, that are to be told of events now."""
        later = LogMonth.objects.filter(company=OuterRef("company"), last_number__gt=OuterRef("last_number"))
        tried = Q(due_time=None) | Q(due_time__lte=now)
        return self.free(now).filter(tried, Exists(later), enabled=True)


class WebhookEndpoint(CompanyOwned, Audited):
    """An address, and how far it has been told of the company's events.

    Events are numbered in the order of their commits without gaps, so that a number is all there is to remember: what
    has a higher one is to come.
    """

    url = models.CharField(max_length=LONGEST_URL)
    types = ArrayField(models.CharField(max_length=60), null=True)  # of events; null: all
    enabled = models.BooleanField(default=True)
    description = models.CharField(max_length=200, blank=True)

    salt = models.BinaryField(max_length=16, default=new_salt)  # what the secret is derived from, beside the pepper
    old_salt = models.BinaryField(max_length=16, null=True)  # of the secret before, which signs too for a while
    old_salt_until = models.DateTimeField(null=True)

    last_number = models.BigIntegerField(default=0)  # of the event that it was told last, or that is not for it
    failures = models.SmallIntegerField(default=0)  # of the next event
    due_time = models.DateTimeField(null=True)  # of the next try, after a failure
    held_until = models.DateTimeField(null=True)  # a deliverer has it in hand; nobody else does until then
    last_delivery_time = models.DateTimeField(null=True)
    last_status = models.SmallIntegerField(null=True)
    failing_since = models.DateTimeField(null=True)

    objects = WebhookEndpointQuerySet.as_manager()

    class Meta:
        constraints = [
            models.CheckConstraint(condition=~Q(url=""), name="webhook_endpoint_has_address"),
            models.CheckConstraint(condition=~Q(types=[]), name="webhook_endpoint_types_are_some"),
            models.CheckConstraint(condition=Q(failures__gte=0), name="webhook_endpoint_failures_counted"),
        ]

    def __str__(self) -> str:
        return self.url

    @property
    def shown_beside(self) -> str:
        """How it answers is shown and is no change of the endpoint."""
        return f"{self.last_delivery_time} {self.last_status} {self.failing_since}"


class WebhookDeliveryQuerySet(CompanyOwnedQuerySet["WebhookDelivery"]):
    def asked(self) -> Self:
        """Tests and repetitions that somebody asked for and that were not sent yet."""
        return self.filter(time=None)

    def of_free_endpoints(self, now: datetime) -> Self:
        return self.filter(Q(endpoint__held_until=None) | Q(endpoint__held_until__lte=now))


class WebhookDelivery(CompanyOwned):
    """One try to tell an endpoint of one event; one without a time was asked for and is to come."""

    endpoint = CompanyForeignKey(WebhookEndpoint, when_deleted="cascade")
    event_id = models.UUIDField()
    type = models.CharField(max_length=60)
    asked_time = models.DateTimeField(null=True)  # null: sent by itself
    time = models.DateTimeField(null=True)
    status = models.SmallIntegerField(null=True)  # null: there was no answer
    duration_ms = models.IntegerField(null=True)
    response = models.CharField(max_length=LONGEST_ANSWER, blank=True)
    error = models.CharField(max_length=200, blank=True)

    objects = WebhookDeliveryQuerySet.as_manager()

    class Meta:
        verbose_name_plural = "webhook deliveries"
        indexes = [
            models.Index(fields=["company", "endpoint", "id"], name="webhook_delivery_by_endpoint"),
            models.Index(fields=["company", "endpoint"], condition=Q(time=None), name="webhook_delivery_asked"),
        ]

    def __str__(self) -> str:
        return f"{self.type} to {self.endpoint_id}"
