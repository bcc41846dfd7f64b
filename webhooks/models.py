"""Webhook endpoints and deliveries."""

from datetime import datetime
from typing import Self

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Exists, OuterRef, Q

from companies.models import Audited, AuditEntry, CompanyForeignKey, CompanyOwned, CompanyOwnedQuerySet
from webhooks.signing import new_salt

MAX_URL_LENGTH = 2048  # the limit of the outbound client
MAX_RESPONSE_LENGTH = 1024  # stored part of a response


class WebhookEndpointQuerySet(CompanyOwnedQuerySet["WebhookEndpoint"]):
    def in_display_order(self) -> Self:
        return self.order_by("id")

    def unleased(self, now: datetime) -> Self:
        """Those without a valid lease of a worker."""
        return self.filter(Q(held_until=None) | Q(held_until__lte=now))

    def due(self, now: datetime) -> Self:
        """Those of all companies that are to get events now."""
        later = AuditEntry.objects.filter(company=OuterRef("company"), number__gt=OuterRef("last_number"))
        tried = Q(due_time=None) | Q(due_time__lte=now)
        return self.unleased(now).filter(tried, Exists(later), enabled=True)


class WebhookEndpoint(CompanyOwned, Audited):
    """A URL, and the number of the last event that it got.

    Events are numbered in order of commits without gaps, so that this number is the whole state: higher ones
    are to come.
    """

    url = models.CharField(max_length=MAX_URL_LENGTH)
    types = ArrayField(models.CharField(max_length=60), null=True)  # of events; null: all
    enabled = models.BooleanField(default=True)
    description = models.CharField(max_length=200, blank=True)

    salt = models.BinaryField(max_length=16, default=new_salt)  # the secret is derived from it and the pepper
    old_salt = models.BinaryField(max_length=16, null=True)  # of the previous secret, which also signs for a while
    old_salt_until = models.DateTimeField(null=True)

    last_number = models.BigIntegerField(default=0)  # of the last event that was delivered or skipped
    failures = models.SmallIntegerField(default=0)  # failed attempts of the next event
    due_time = models.DateTimeField(null=True)  # of the next attempt after a failure
    held_until = models.DateTimeField(null=True)  # leased by a worker until then
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
    def unversioned_values(self) -> str:
        """The delivery status, which is shown but is no change of the endpoint."""
        return f"{self.last_delivery_time} {self.last_status} {self.failing_since}"


class WebhookDeliveryQuerySet(CompanyOwnedQuerySet["WebhookDelivery"]):
    def requested(self) -> Self:
        """Requested tests and redeliveries that are not sent yet."""
        return self.filter(time=None)

    def for_unleased_endpoints(self, now: datetime) -> Self:
        return self.filter(Q(endpoint__held_until=None) | Q(endpoint__held_until__lte=now))


class WebhookDelivery(CompanyOwned):
    """One attempt to send an event to an endpoint; without a time it is requested and not sent yet."""

    endpoint = CompanyForeignKey(WebhookEndpoint, when_deleted="cascade")
    event_id = models.UUIDField()
    type = models.CharField(max_length=60)
    asked_time = models.DateTimeField(null=True)  # null: sent automatically
    time = models.DateTimeField(null=True)
    status = models.SmallIntegerField(null=True)  # null: no response
    duration_ms = models.IntegerField(null=True)
    response = models.CharField(max_length=MAX_RESPONSE_LENGTH, blank=True)
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
