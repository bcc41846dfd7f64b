"""Serializers whose names are camelCase and whose types are strict. They give shape; rules live in the acts."""

from typing import Any, ClassVar

from django.db import models
from rest_framework import serializers

from companies.api import fields
from companies.api.answering import ReadInOneGo
from companies.api.naming import CamelFields
from companies.models import Currency

AUDIT = ("created_time", "created_user_id", "last_updated_time", "last_updated_user_id")


class Shape(CamelFields, ReadInOneGo, serializers.Serializer):  # type: ignore[misc]
    """A request or an answer that is no stored row."""

    default_error_messages = {"invalid": "Must be an object."}
    sparse: ClassVar[bool] = False  # whether an answer leaves out fields that have no value
    filled: ClassVar[bool] = False  # whether an answer has a value in every field, also where null may be sent


class MapOf(Shape):
    """An answer whose keys are data and whose values have one shape, the ``child``, or are lists of it."""

    child: ClassVar[type[Shape]]
    most: ClassVar[int | None] = None  # in a list, where it is one


class StoredShape(Shape):
    """A JSON object of a row, answered as it is stored, with null for each member that is not."""

    def to_representation(self, instance: Any) -> Any:
        found = {}
        for name, field in self.fields.items():
            value = instance.get(name)
            nested = value is not None and isinstance(field, StoredShape)
            found[name] = field.to_representation(value) if nested else value
        return found


class RowShape(CamelFields, ReadInOneGo, serializers.ModelSerializer):  # type: ignore[misc]
    """A stored row."""

    default_error_messages = {"invalid": "Must be an object."}
    serializer_field_mapping = {
        **serializers.ModelSerializer.serializer_field_mapping,
        models.CharField: fields.TextField,
        models.TextField: fields.TextField,
        models.BooleanField: fields.FlagField,
        models.IntegerField: fields.WholeField,
        models.DateField: fields.DayField,
        models.DateTimeField: fields.TimeField,
        models.UUIDField: fields.IdField,
        models.JSONField: fields.JsonField,
    }
    serializer_choice_field = fields.ChoiceField
    serializer_related_field = serializers.PrimaryKeyRelatedField

    def build_standard_field(self, field_name: str, model_field: Any) -> Any:
        """Use the field of currencies for columns of currencies."""
        field, options = super().build_standard_field(field_name, model_field)
        return (fields.CurrencyField if model_field.choices == Currency.choices else field), options

    def get_validators(self) -> list[Any]:
        """Uniqueness is the database's; its refusal is explained where the act is."""
        return []


class Nothing(Shape):
    """The body of acts that take none."""


class Success(Shape):
    """The answer of acts that return nothing else."""

    success = fields.FlagField(default=True)


SUCCESS = {"success": True}
