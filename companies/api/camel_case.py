"""Conversion between snake_case in code and camelCase in the API."""

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from rest_framework import serializers


@lru_cache(maxsize=4096)
def to_camel_case(name: str) -> str:
    """Convert snake_case to camelCase: created_time → createdTime."""
    head, *tail = name.split("_")
    return head + "".join(word[:1].upper() + word[1:] for word in tail)


def to_camel_case_keys(values: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """Convert the top-level keys; nested keys are data and stay."""
    return None if values is None else {to_camel_case(key): value for key, value in values.items()}


class CamelCaseFieldsMixin:
    """Serializer mixin: fields declared in snake_case are read and written in camelCase."""

    def get_fields(self) -> dict[str, serializers.Field]:
        fields = {}
        for name, field in super().get_fields().items():  # type: ignore[misc]
            if field.source is None and to_camel_case(name) != name:
                field.source = name
            fields[to_camel_case(name)] = field
        return fields


def to_sentence_case(name: str) -> str:
    """Convert camelCase to words: createdTime → Created time."""
    spaced_name = re.sub(r"(?<=[a-z0-9])([A-Z])", lambda match: f" {match[1].lower()}", name)
    return re.sub(r"\bapi\b", "API", spaced_name[:1].upper() + spaced_name[1:])
