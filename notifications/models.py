"""Notifications of users, one company each."""

from typing import Self
from uuid import UUID

from django.core.serializers.json import DjangoJSONEncoder
from django.db import models
from django.db.models import Q

from companies.models import Audited, CompanyOwned, CompanyOwnedQuerySet, User


class NotificationType(models.TextChoices):
    """Types of notifications, as in the API."""

    IMPORT_FINISHED = "import.finished"
    IMPORT_UNDONE = "import.undone"
    APP_CONNECTED = "app.connected"
    APP_REVOKED = "app.revoked"
    API_KEY_CREATED = "apiKey.created"
    API_KEY_CREATOR_LEFT = "apiKey.creatorLeft"
    BALANCE_MISMATCH = "balance.mismatch"
    CASH_BELOW_ZERO = "cash.belowZero"
    CLOSING_REOPENED = "closing.reopened"
    MEMBER_JOINED = "member.joined"
    SANDBOX_EXPIRING = "sandbox.expiring"
    WEBHOOK_DISABLED = "webhookEndpoint.disabled"


class NotificationQuerySet(CompanyOwnedQuerySet["Notification"]):
    def for_recipient(self, user_id: UUID | None) -> Self:
        """Those of one user; none for a caller that is no user."""
        return self.none() if user_id is None else self.filter(recipient=user_id)

    def unread(self) -> Self:
        return self.filter(read_time=None)

    def read(self) -> Self:
        return self.filter(read_time__isnull=False)


class Notification(CompanyOwned, Audited):
    type = models.CharField(max_length=40, choices=NotificationType)
    # Rows are found by company first, so the foreign key needs no index of its own.
    recipient = models.ForeignKey(User, models.CASCADE, related_name="+", db_index=False)
    read_time = models.DateTimeField(null=True)
    payload = models.JSONField(encoder=DjangoJSONEncoder)  # the API returns it as it is stored

    objects = NotificationQuerySet.as_manager()

    class Meta:
        indexes = [
            models.Index(fields=["company", "recipient", "id"], name="notification_by_recipient"),
            models.Index(fields=["company", "recipient"], condition=Q(read_time=None), name="notification_unread"),
        ]
        constraints = [
            models.CheckConstraint(condition=Q(type__in=NotificationType.values), name="notification_type_known")
        ]

    def __str__(self) -> str:
        return f"{self.type} to {self.recipient_id}"
