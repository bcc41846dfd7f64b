"""Imports of subscription events from files."""

from django.contrib.postgres.fields import ArrayField
from django.db import models

from companies.models import Audited, CompanyOwned, CompanyOwnedQuerySet


class SubscriptionEventImport(CompanyOwned, Audited):
    """One import of subscription events: its file, its counts, what it created, and whether it was undone."""

    filename = models.CharField(max_length=255)
    count = models.IntegerField()
    duplicates = models.IntegerField()  # left out, stored already
    left_out = models.IntegerField()  # not paid for, such as trials
    customer_ids = ArrayField(models.UUIDField(), default=list)  # that it created
    product_ids = ArrayField(models.UUIDField(), default=list)
    subscription_ids = ArrayField(models.UUIDField(), default=list)
    undone_time = models.DateTimeField(null=True)

    objects = CompanyOwnedQuerySet["SubscriptionEventImport"].as_manager()

    class Meta:
        indexes = [models.Index(fields=["company", "created_time", "id"], name="event_import_by_time")]

    def __str__(self) -> str:
        return self.filename

    @property
    def customer_count(self) -> int:
        """How many customers it created."""
        return len(self.customer_ids)

    @property
    def product_count(self) -> int:
        """How many products it created."""
        return len(self.product_ids)

    @property
    def subscription_count(self) -> int:
        """How many subscriptions it created."""
        return len(self.subscription_ids)
