"""Serializers of notifications."""

from typing import Any
from uuid import UUID

from rest_framework import serializers

from companies.api import fields
from companies.api.serializers import AUDIT_FIELDS, StrictModelSerializer, StrictSerializer, Success
from companies.models import parse_id
from notifications.models import Notification

MAX_IDS = 10_000  # the API's limit of batch_delete


class NotificationSerializer(StrictModelSerializer):
    company_id = serializers.UUIDField(read_only=True)
    recipient_user_id = serializers.UUIDField(source="recipient_id", read_only=True)
    payload = fields.JsonField(help_text="title, body, link, entityType, entityId and fields of the type.")

    class Meta:
        model = Notification
        fields = ("id", "company_id", "type", "recipient_user_id", "read_time", "payload", *AUDIT_FIELDS)
        read_only_fields = fields


class IdList(fields.ListField):
    """Up to 10,000 ids. Invalid and unknown ids are ignored."""

    child = fields.AnyTextField()

    def __init__(self, **kwargs: Any):
        super().__init__(max_length=MAX_IDS, **kwargs)

    def to_internal_value(self, data: Any) -> list[UUID]:
        return [row_id for text in super().to_internal_value(data) if (row_id := parse_id(text)) is not None]


class BatchDeleteRequest(StrictSerializer):
    notification_ids = IdList()


class DeletedNotificationCount(Success):
    schema_name = "Deleted"
    deleted_count = fields.CountField(help_text="Number of notifications that were deleted.")


class ReadNotificationCount(Success):
    schema_name = "ReadAll"
    read_count = fields.CountField(help_text="Number of notifications that were unread.")
