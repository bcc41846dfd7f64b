"""Base serializers: camelCase names and strict types. They define the shape; rules are in the actions."""

from typing import Any, ClassVar

from django.db import models
from rest_framework import serializers

from companies.api import fields
from companies.api.camel_case import CamelCaseFieldsMixin
from companies.api.fast_serializer import FastSerializerMixin

AUDIT_FIELDS = ("created_time", "created_user_id", "last_updated_time", "last_updated_user_id")


class StrictSerializer(CamelCaseFieldsMixin, FastSerializerMixin, serializers.Serializer):  # type: ignore[misc]
    """Base of serializers without a model: camelCase names, strict types."""

    default_error_messages = {"invalid": "Must be an object."}
    sparse: ClassVar[bool] = False  # whether a response leaves out fields without a value
    optional: ClassVar[tuple[str, ...]] = ()  # API names of fields that a response may leave out
    filled: ClassVar[bool] = False  # whether a response has a value in every field, even if null may be sent


class MapSerializer(StrictSerializer):
    """Response whose keys are data and whose values have one schema, the ``child``, or are lists of it."""

    child: ClassVar[type[StrictSerializer]]
    max_items: ClassVar[int | None] = None  # maximum length of the lists


class StoredJsonSerializer(StrictSerializer):
    """A JSON object stored in a row, returned as stored with null for missing members."""

    def to_representation(self, instance: Any) -> Any:
        representation = {}
        for name, field in self.fields.items():
            value = instance.get(name)
            is_nested = value is not None and isinstance(field, StoredJsonSerializer)
            representation[name] = field.to_representation(value) if is_nested else value
        return representation


class StrictModelSerializer(CamelCaseFieldsMixin, FastSerializerMixin, serializers.ModelSerializer):  # type: ignore[misc]
    """Base of model serializers: camelCase names, strict types."""

    default_error_messages = {"invalid": "Must be an object."}
    serializer_field_mapping = {
        **serializers.ModelSerializer.serializer_field_mapping,
        models.CharField: fields.TextField,
        models.TextField: fields.TextField,
        models.BooleanField: fields.BooleanField,
        models.IntegerField: fields.IntegerField,
        models.DateField: fields.DateField,
        models.DateTimeField: fields.TimeField,
        models.UUIDField: fields.IdField,
        models.JSONField: fields.JsonField,
    }
    serializer_choice_field = fields.ChoiceField
    serializer_related_field = serializers.PrimaryKeyRelatedField

    def build_standard_field(self, field_name: str, model_field: Any) -> Any:
        """Use the currency field for currency columns."""
        field, options = super().build_standard_field(field_name, model_field)
        return (fields.CurrencyField if model_field.choices == fields.CURRENCY_CHOICES else field), options

    def get_validators(self) -> list[Any]:
        """Return none: uniqueness is checked by the database, and the action explains the error."""
        return []


class EmptyRequest(StrictSerializer):
    """The body of acts that take none."""

    schema_name = "Nothing"


class Success(StrictSerializer):
    """The answer of acts that return nothing else."""

    success = fields.BooleanField(default=True)


SUCCESS = {"success": True}
