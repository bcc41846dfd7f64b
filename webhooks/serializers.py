"""Serializers of webhook endpoints and deliveries."""

from typing import Any, ClassVar

from django.utils.translation import gettext_lazy as _
from rest_framework import serializers

from companies import http_client
from companies.api import fields
from companies.api.serializers import AUDIT_FIELDS, StrictModelSerializer
from companies.models import MAX_EVENT_TYPE_LENGTH, check_event_type
from webhooks.models import MAX_URL_LENGTH, WebhookDelivery, WebhookEndpoint

MAX_EVENT_TYPES = 100
MAX_SECRET_LENGTH = 50  # whsec_ and 32 bytes in base64


class AddressField(fields.TextField):
    """An https address that may be called."""

    default_error_messages = {
        "invalid_address": _("Must be an address such as https://example.com/hook."),
        "not_https": _("Must begin with https://."),
        "credentials_in_address": _("Must not have a user's name or password in it."),
        "address_not_public": _("Must not lie inside a network."),
    }

    def to_internal_value(self, data: Any) -> str:
        text = super().to_internal_value(data)
        code = (
            http_client.find_url_objection(text) if len(text) <= MAX_URL_LENGTH else None
        )  # the length has its own error
        if code:
            self.fail(code)
        return text


class EventTypes(fields.ListField):
    """Types of events, each once, in the order of the alphabet."""

    child = fields.TextField(max_length=MAX_EVENT_TYPE_LENGTH, validators=[check_event_type])

    def __init__(self, **kwargs: Any):
        super().__init__(max_length=MAX_EVENT_TYPES, **kwargs)

    def to_internal_value(self, data: Any) -> list[str]:
        return sorted(set(super().to_internal_value(data)))


class WebhookEndpointSerializer(StrictModelSerializer):
    company_id = serializers.UUIDField(read_only=True)
    url = AddressField(max_length=MAX_URL_LENGTH, help_text="https, on a public address; without a user or password")
    types = EventTypes(
        allow_null=True, allow_empty=False, required=False, help_text="of the events that are sent; null: all"
    )
    enabled = fields.BooleanField(
        required=False, help_text="whether events are sent; once it is true again, from where it stopped"
    )
    description = fields.TextField(max_length=200, allow_blank=True, required=False)
    last_delivery_time = fields.TimeField(read_only=True, allow_null=True, help_text="of the last try")
    last_status = fields.IntegerField(
        read_only=True, allow_null=True, help_text="what it answered then; null: nothing", min_value=100, max_value=999
    )
    failing_since = fields.TimeField(read_only=True, allow_null=True, help_text="null: the last event was taken")

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
    """An endpoint with its secret, which is shown this once."""

    secret = fields.TextField(
        read_only=True, max_length=MAX_SECRET_LENGTH, help_text="what its messages are signed with; shown this once"
    )

    class Meta(WebhookEndpointSerializer.Meta):
        fields = (*WebhookEndpointSerializer.Meta.fields, "secret")


class WebhookDeliverySerializer(StrictModelSerializer):
    """One try to tell an endpoint of an event."""

    type = fields.TextField(max_length=MAX_EVENT_TYPE_LENGTH, help_text="of the event")
    asked_time = fields.TimeField(allow_null=True, help_text="null: sent by itself, not by a test or a repetition")
    time = fields.TimeField(allow_null=True, help_text="null: is to be sent")
    status = fields.IntegerField(allow_null=True, help_text="null: there was no answer", min_value=100, max_value=999)
    duration_ms = fields.IntegerField(allow_null=True, min_value=0, max_value=600_000)
    response = fields.TextField(max_length=1024, help_text="the beginning of the answer's body, at most 1 KiB")
    error = fields.TextField(max_length=200, help_text="why there was no answer; empty where there was")

    class Meta:
        model = WebhookDelivery
        fields = ("id", "event_id", "type", "asked_time", "time", "status", "duration_ms", "response", "error")
        read_only_fields = fields
