"""Serializers of webhook endpoints and deliveries."""

from typing import Any, ClassVar

from django.utils.translation import gettext_lazy as _
from rest_framework import serializers

from companies import http_client
from companies.api import fields
from companies.api.serializers import AUDIT_FIELDS, StrictModelSerializer
from companies.models import MAX_EVENT_TYPE_LENGTH, check_event_type
from webhooks.models import MAX_URL_LENGTH, WebhookDelivery, WebhookEndpoint

MAX_EVENT_TYPES = 150
MAX_SECRET_LENGTH = 50  # whsec_ and 32 bytes in base64


class AddressField(fields.TextField):
    """A public https URL."""

    default_error_messages = {
        "invalid_address": _("Must be a URL such as https://example.com/hook."),
        "not_https": _("Must start with https://."),
        "credentials_in_address": _("Must not contain a user name or password."),
        "address_not_public": _("Must be a public address."),
    }

    def to_internal_value(self, data: Any) -> str:
        text = super().to_internal_value(data)
        code = (
            http_client.find_url_error_code(text) if len(text) <= MAX_URL_LENGTH else None
        )  # the length has its own error
        if code:
            self.fail(code)
        return text


class EventTypes(fields.ListField):
    """A list of event types without duplicates, in alphabetical order."""

    child = fields.TextField(max_length=MAX_EVENT_TYPE_LENGTH, validators=[check_event_type])

    def __init__(self, **kwargs: Any):
        super().__init__(max_length=MAX_EVENT_TYPES, **kwargs)

    def to_internal_value(self, data: Any) -> list[str]:
        return sorted(set(super().to_internal_value(data)))


class WebhookEndpointSerializer(StrictModelSerializer):
    company_id = serializers.UUIDField(read_only=True)
    url = AddressField(max_length=MAX_URL_LENGTH, help_text="Public https URL without user name or password.")
    types = EventTypes(
        allow_null=True, allow_empty=False, required=False, help_text="Event types to send; null for all."
    )
    enabled = fields.BooleanField(
        required=False, help_text="Whether events are sent; enabling it also sends missed events."
    )
    description = fields.TextField(max_length=200, allow_blank=True, required=False)
    last_delivery_time = fields.TimeField(read_only=True, allow_null=True, help_text="Time of the last attempt.")
    last_status = fields.IntegerField(
        read_only=True, allow_null=True, help_text="Last status; null if none.", min_value=100, max_value=999
    )
    failing_since = fields.TimeField(read_only=True, allow_null=True, help_text="First failure since the last success.")

    class Meta:
        model = WebhookEndpoint
        fields: ClassVar[tuple[str, ...]] = (
            "id",
            "company_id",
            "url",
            "types",
            "enabled",
            "description",
            "last_delivery_time",
            "last_status",
            "failing_since",
            *AUDIT_FIELDS,
        )
        read_only_fields = ("id", *AUDIT_FIELDS)


class CreatedWebhookEndpoint(WebhookEndpointSerializer):
    """A webhook endpoint with its secret, which is returned only once."""

    secret = fields.TextField(
        read_only=True, max_length=MAX_SECRET_LENGTH, help_text="Secret that signs the messages; returned only once."
    )

    class Meta(WebhookEndpointSerializer.Meta):
        fields = (*WebhookEndpointSerializer.Meta.fields, "secret")


class WebhookDeliverySerializer(StrictModelSerializer):
    """One attempt to send an event to an endpoint."""

    type = fields.TextField(max_length=MAX_EVENT_TYPE_LENGTH, help_text="Event type.")
    asked_time = fields.TimeField(allow_null=True, help_text="Time of the manual request; null if automatic.")
    time = fields.TimeField(allow_null=True, help_text="Time when it was sent; null if queued.")
    status = fields.IntegerField(allow_null=True, help_text="Null if no response.", min_value=100, max_value=999)
    duration_ms = fields.IntegerField(allow_null=True, min_value=0, max_value=600_000)
    response = fields.TextField(max_length=1024, help_text="Start of the response body, at most 1 KiB.")
    error = fields.TextField(max_length=200, help_text="Reason if there was no response; otherwise empty.")

    class Meta:
        model = WebhookDelivery
        fields = ("id", "event_id", "type", "asked_time", "time", "status", "duration_ms", "response", "error")
        read_only_fields = fields
