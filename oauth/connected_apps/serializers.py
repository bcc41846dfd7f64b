"""The serializer of connected apps."""

from typing import ClassVar

from rest_framework import serializers

from companies.api import fields
from companies.api.serializers import StrictModelSerializer
from oauth.models import ConsentGrant
from oauth.protocol import scopes


class ConnectedAppSerializer(StrictModelSerializer):
    company_id = serializers.UUIDField(read_only=True)
    application_name = fields.TextField(source="application.name", read_only=True)
    client_id = fields.TextField(source="application.client_id", read_only=True)
    user_id = serializers.UUIDField(read_only=True)
    user_email = serializers.EmailField(source="user.email", read_only=True)
    scopes = serializers.ListField(
        child=fields.ChoiceField(choices=scopes.ALL_SCOPES), max_length=len(scopes.ALL_SCOPES), read_only=True
    )

    class Meta:
        model = ConsentGrant
        fields: ClassVar[tuple[str, ...]] = (
            "id", "company_id", "application_name", "client_id", "scopes", "user_id", "user_email", "created_time",
            "last_used_time",
        )  # fmt: skip
