"""API keys; only a keyed digest of each secret is stored."""

from datetime import datetime
from typing import Self

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q

from companies.models.audit_context import Audited
from companies.models.directory import DirectoryListed
from companies.models.tenancy import CompanyOwnedQuerySet


class ApiKeyQuerySet(CompanyOwnedQuerySet["ApiKey"]):
    def newest_first(self) -> Self:
        return self.order_by("-created_time", "-id")

    def active(self, now: datetime) -> Self:
        return self.filter(revoked_time=None).filter(Q(expires_time=None) | Q(expires_time__gt=now))


class ApiKey(DirectoryListed, Audited):
    DIRECTORY_FIELD = "id"

    name = models.CharField(max_length=200)
    digest = models.BinaryField(max_length=32)
    last_four = models.CharField(max_length=4)
    permissions = ArrayField(models.CharField(max_length=40))
    expires_time = models.DateTimeField(null=True)
    last_used_time = models.DateTimeField(null=True)
    revoked_time = models.DateTimeField(null=True)

    objects = ApiKeyQuerySet.as_manager()

    class Meta:
        indexes = [
            models.Index(fields=["company", "created_time"], name="api_key_by_time"),
        ]

    def __str__(self) -> str:
        return f"{self.name} …{self.last_four}"

    @property
    def unversioned_values(self) -> str:
        """Values shown with the key that do not change its version: the last use."""
        return str(self.last_used_time)
